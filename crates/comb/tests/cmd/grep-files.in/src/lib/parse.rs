// TODO: parse
