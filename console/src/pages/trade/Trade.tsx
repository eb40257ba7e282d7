export function Trade(): React.JSX.Element {
  return <p>Trade</p>
}
