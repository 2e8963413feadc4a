#compdef NAME
# Completions of Zsh. The program itself finds the candidates.
_NAME() {
    local -a parts wholes
    local line value
    for line in "${(@f)$(COMPLETE=zsh COMPLETE_INDEX=$((CURRENT - 1)) NAME -- "${(@)words}" 2>/dev/null)}"; do
        value=${line%%$'\t'*}
        [[ -n $value ]] || continue
        # A colon separates a candidate from its description.
        if [[ $line == *$'\t'* ]]; then
            line="${${value//\\/\\\\}//:/\\:}:${line#*$'\t'}"
        else
            line="${${value//\\/\\\\}//:/\\:}"
        fi
        if [[ $value == *[=/:,] ]]; then
            parts+=("$line")
        else
            wholes+=("$line")
        fi
    done
    # What ends in such a character is the beginning of a word: no blank follows it. A name may be completed to one in quotes, which
    # does not begin with what was typed (-U).
    (( $#parts )) && _describe -V candidates parts -U -S ''
    (( $#wholes )) && _describe -V candidates wholes -U
    (( $#parts + $#wholes )) || _files
}
# This file is either a function that Zsh loads, or a script that is read.
if [[ ${funcstack[1]} == _NAME ]]; then
    _NAME "$@"
else
    compdef _NAME NAME
fi
