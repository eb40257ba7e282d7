import { Button } from '@mantine/core'
import { cloneElement, isValidElement, useState, type ReactElement, type ReactNode } from 'react'
import { Amount, decimalsShown, type AmountProps } from './Amount.tsx'

export interface Column<T> {
  readonly name: string
  readonly cell: (row: T) => ReactNode
  /** Figures stand to the right. */
  readonly right?: boolean
  /** Its heading is for readers of the screen alone (buttons of a row). */
  readonly quiet?: boolean
}
interface TableProps<T> {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string | number
  /** A change of this text lets the row flash once. */
  readonly mark?: (row: T) => string
  readonly empty: ReactNode
  readonly onRow?: (row: T) => void
  readonly more?: ReactNode
}
const PORTION = 100
/** Inside the rooms names are written small; at the head of a column they begin with a capital. */
const heading = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
const isAmount = (node: ReactNode): node is ReactElement<AmountProps> =>
  isValidElement(node) && node.type === Amount
/** Amounts of a column under each other by their points, with room for the longest of them. */
function inLine(cells: readonly ReactNode[]): readonly ReactNode[] {
  let room = 0
  for (const cell of cells) if (isAmount(cell)) room = Math.max(room, decimalsShown(cell.props) ?? 0)
  return cells.map((cell) =>
    isAmount(cell) && cell.props.align === true ? cloneElement(cell, { room }) : cell,
  )
}

/** A table; on a phone each row is a card. Long lists are drawn in portions. */
export function Table<T>({
  label,
  columns,
  rows,
  rowKey,
  mark,
  empty,
  onRow,
  more,
}: TableProps<T>): ReactNode {
  const [shown, setShown] = useState(PORTION)
  if (rows.length === 0) return empty
  const drawn = rows.slice(0, shown)
  const cells = columns.map(({ cell }) => inLine(drawn.map(cell)))
  return (
    <div className="table-scroll">
      <table className="table cards" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name, right = false, quiet = false }) => (
              <th key={name} scope="col" className={right ? 'r' : undefined}>
                {quiet ? <span className="sr">{name}</span> : heading(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {drawn.map((row, line) => (
            <tr
              key={`${rowKey(row)} ${mark?.(row) ?? ''}`}
              className={[onRow === undefined ? '' : 'link', mark === undefined ? '' : 'flash']
                .join(' ')
                .trim()}
              {...(onRow !== undefined && {
                tabIndex: 0,
                onClick: () => onRow(row),
                onKeyDown: (event) => {
                  if (event.key === 'Enter' && event.target === event.currentTarget) onRow(row)
                },
              })}
            >
              {columns.map(({ name, right = false, quiet = false }, at) => (
                <td key={name} className={right ? 'r' : undefined} data-name={quiet ? '' : heading(name)}>
                  {cells[at]![line]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown ? (
        <div className="more">
          <Button variant="subtle" size="xs" onClick={() => setShown((last) => last + PORTION)}>
            Show {Math.min(PORTION, rows.length - shown)} more of {rows.length - shown}
          </Button>
        </div>
      ) : (
        more
      )}
    </div>
  )
}
