/** The names that a text has in double quotes. */
type Quoted<Text extends string> = Text extends `${string}"${infer Name}"${infer Rest}`
  ? Name | Quoted<Rest>
  : never

/**
 * What stands after FROM: a column that the row has not does not compile. Of a text that is put together when it runs
 * only the parts that are known beforehand are looked at.
 */
export type Where<Row, Text extends string> = Quoted<Text> extends keyof Row ? Text : never
