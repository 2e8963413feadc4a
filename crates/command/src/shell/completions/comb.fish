# Completions of Fish. The program itself finds the candidates.
complete --command NAME --keep-order --no-files --arguments '(COMPLETE=fish NAME -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token) 2>/dev/null)'
