import { Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'

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
  return (
    <div className="table-scroll">
      <table className="table cards" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name, right = false, quiet = false }) => (
              <th key={name} scope="col" className={right ? 'r' : undefined}>
                {quiet ? <span className="sr">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row) => (
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
              {columns.map(({ name, cell, right = false, quiet = false }) => (
                <td key={name} className={right ? 'r' : undefined} data-name={quiet ? '' : name}>
                  {cell(row)}
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
