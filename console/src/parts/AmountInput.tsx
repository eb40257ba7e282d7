import { TextInput, type TextInputProps } from '@mantine/core'
import { parse } from '../lib/decimal.ts'

interface AmountInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly currency?: string | undefined
}
/** A field for a decimal: takes a comma for a point and spaces for nothing, and never goes through a float. */
export function AmountInput({ value, onChange, currency, ...rest }: AmountInputProps): React.JSX.Element {
  const wrong = value !== '' && parse(value) === undefined
  return (
    <TextInput
      inputMode="decimal"
      autoComplete="off"
      spellCheck={false}
      {...rest}
      value={value}
      error={rest.error ?? (wrong ? 'a decimal number, such as 0.25' : undefined)}
      onChange={(event) =>
        onChange(
          event.currentTarget.value
            .replace(/[\s\u2009]/g, '')
            .replace(/,/g, event.currentTarget.value.includes('.') ? '' : '.'),
        )
      }
      rightSection={currency === undefined ? undefined : <span className="dim small">{currency}</span>}
      rightSectionWidth={currency === undefined ? undefined : 14 + currency.length * 9}
      rightSectionPointerEvents="none"
      styles={{ input: { fontVariantNumeric: 'tabular-nums' } }}
    />
  )
}
