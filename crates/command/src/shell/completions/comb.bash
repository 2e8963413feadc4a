# Completions of Bash, version 3.2 and later. The program itself finds the candidates.
_NAME() {
    local line=$COMP_LINE piece raw index=0 number word prefix=
    local -a words=()
    # Bash splits words at some characters, such as = and :; pieces without a blank between them are put together again.
    for ((number = 0; number < ${#COMP_WORDS[@]}; number++)); do
        raw=${COMP_WORDS[number]} piece=$raw
        if ((number == COMP_CWORD)) && [[ -n $2 && $raw == "$2"* ]]; then
            piece=$2
        fi
        if ((number > 0)) && [[ -n $line && $line != [[:blank:]]* ]]; then
            ((number == COMP_CWORD)) && prefix=${words[${#words[@]} - 1]}
            words[${#words[@]} - 1]+=$piece
        else
            words+=("$piece")
        fi
        line=${line#*"$raw"}
        ((number == COMP_CWORD)) && index=$((${#words[@]} - 1))
    done
    # What follows the last of these characters is replaced. A piece may be such a character itself.
    word=${words[index]}
    if [[ -z $2 && -n $word ]]; then
        prefix=$word
    fi
    COMPREPLY=()
    while IFS= read -r word; do
        word=${word#"$prefix"}
        # The rest of a word in quotes: its text could end them, or run commands.
        case ${COMP_WORDS[COMP_CWORD]} in
            \'*) word=${word//\'/\'\\\'\'} ;;
            \"*)
                word=${word//\\/\\\\} word=${word//\"/\\\"}
                word=${word//\$/\\\$} word=${word//\`/\\\`}
                ;;
            # A tilde at the beginning would be a home directory.
            *) [[ $word == *[!A-Za-z0-9_./=:,@%+~-]* || $word == "~"* ]] && printf -v word %q "$word" ;;
        esac
        COMPREPLY+=("$word")
    done < <(COMPLETE=bash COMPLETE_INDEX=$index NAME -- "${words[@]}" 2>/dev/null)
    if [[ ${COMPREPLY-} == *[=/:,] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
# Without candidates, names of files are completed. Not all versions can keep the order of the candidates.
complete -o bashdefault -o default -o nosort -F _NAME NAME 2>/dev/null ||
    complete -o bashdefault -o default -F _NAME NAME
