// Widgets. function Commented() {}
import React, { useState } from 'react';

type Props<T> = { label: string; items: T[] };

interface State {
  open: boolean;
  toggle(): void;
}

export const Button = ({ label }: Props<string>) => {
  const [open, setOpen] = useState(false);
  const onClick = () => setOpen(!open);
  function inner() {}
  return <button onClick={onClick}>function inMarkup() {label}</button>;
};

export function List<T>({ items }: Props<T>): JSX.Element {
  return (
    <ul>
      {items.map((item) => {
        const inMap = item;
        return <li key={String(item)}>const text = 1</li>;
      })}
    </ul>
  );
}

const identity = <T,>(value: T) => value;
export const Memo = React.memo(Button);

export default class App extends React.Component<Props<string>, State> {
  static defaultProps = { label: 'class Quoted {}' };
  state: State = { open: false, toggle() {} };
  private readonly ref = React.createRef();

  handle = (event: Event): void => {};

  render() {
    return (
      <>
        <Button {...this.props} />
        <style>{`function inTemplate() {}`}</style>
      </>
    );
  }
}

export enum Theme { Light, Dark = 'dark' }
let current: Theme | undefined;
