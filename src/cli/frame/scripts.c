/* SPDX-License-Identifier: Apache-2.0 */
/* The shells' completion scripts: thin, since the engine is in the program. */
#include <string.h>

#include "cli/frame/help.h"

static const char bash_script[] =
    "# bash completion for reeve\n"
    "_reeve() {\n"
    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words line lead='' quote=''\n"
    "\twords=(\"${COMP_WORDS[@]:1:COMP_CWORD}\")\n"
    "\t# bash splits --option=value at the equals sign; put the pieces together again.\n"
    "\tlocal joined=() word glue=''\n"
    "\tfor word in \"${words[@]}\"; do\n"
    "\t\tif [[ $word == '=' && ${#joined[@]} -gt 0 ]]; then\n"
    "\t\t\tjoined[-1]+='='; glue=1\n"
    "\t\telif [[ -n $glue ]]; then\n"
    "\t\t\tjoined[-1]+=$word; glue=''\n"
    "\t\telse\n"
    "\t\t\tjoined+=(\"$word\")\n"
    "\t\tfi\n"
    "\tdone\n"
    "\tif [[ ${joined[-1]-} == --*=* ]]; then\n"
    "\t\tlead=${joined[-1]%%=*}=\n"
    "\t\t[[ $cur == '=' ]] && cur=''\n"
    "\tfi\n"
    "\t# What is typed is quoted in some way; names are not. Inside quotes bash closes them "
    "itself.\n"
    "\tcase $cur in\n"
    "\t[\\'\\\"]*) quote=${cur:0:1}; cur=${cur:1} ;;\n"
    "\t*) cur=${cur//\\\\/} ;;\n"
    "\tesac\n"
    "\t[[ ${#joined[@]} -gt 0 ]] && joined[-1]=$lead${cur#\"$lead\"}\n"
    "\tCOMPREPLY=()\n"
    "\twhile IFS= read -r line; do\n"
    "\t\tcase $line in\n"
    "\t\t*:file) compopt -o filenames; COMPREPLY+=($(compgen -f -- \"$cur\")) ;;\n"
    "\t\t*:directory) compopt -o filenames; COMPREPLY+=($(compgen -d -- \"$cur\")) ;;\n"
    "\t\t*:command) compopt -o filenames; COMPREPLY+=($(compgen -c -f -- \"$cur\")) ;;\n"
    "\t\t*)\n"
    "\t\t\tline=${line%%$'\\t'*}; line=${line#\"$lead\"}\n"
    "\t\t\t[[ -n $quote ]] || printf -v line %q \"$line\"\n"
    "\t\t\tCOMPREPLY+=(\"$line\") ;;\n"
    "\t\tesac\n"
    "\tdone < <(\"${COMP_WORDS[0]}\" __complete line \"${joined[@]}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _reeve reeve\n";

static const char zsh_script[] =
    "#compdef reeve\n"
    "# zsh completion for reeve\n"
    "_reeve() {\n"
    "\tlocal line tab=$'\\t'\n"
    "\tlocal -a found\n"
    "\tfor line in \"${(@f)$(\"${words[1]}\" __complete line \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\"; do\n"
    "\t\tcase $line in\n"
    "\t\t'') ;;\n"
    "\t\t*:file) _files; return ;;\n"
    "\t\t*:directory) _files -/; return ;;\n"
    "\t\t*:command) _command_names -e || _files; return ;;\n"
    "\t\t*) found+=(\"${${line//:/\\\\:}/$tab/:}\") ;;\n"
    "\t\tesac\n"
    "\tdone\n"
    "\t(( ${#found} )) && _describe -V reeve found\n"
    "}\n"
    "if [[ ${funcstack[1]-} == _reeve ]]; then\n"
    "\t_reeve \"$@\"\n"
    "else\n"
    "\tcompdef _reeve reeve\n"
    "fi\n";

static const char fish_script[] =
    "# fish completion for reeve\n"
    "function __reeve_complete\n"
    "\tset -l words (commandline -opc) (commandline -ct)\n"
    "\tfor line in ($words[1] __complete line $words[2..-1] 2>/dev/null)\n"
    "\t\tswitch $line\n"
    "\t\t\tcase '*:file'\n"
    "\t\t\t\t__fish_complete_path (commandline -ct)\n"
    "\t\t\tcase '*:directory'\n"
    "\t\t\t\t__fish_complete_directories (commandline -ct)\n"
    "\t\t\tcase '*:command'\n"
    "\t\t\t\t__fish_complete_subcommand --fcs-skip=2\n"
    "\t\t\tcase '*'\n"
    "\t\t\t\tprintf '%s\\n' $line\n"
    "\t\tend\n"
    "\tend\n"
    "end\n"
    "complete -c reeve -f -a '(__reeve_complete)'\n";

const char *completion_script(const char *shell)
{
	if (!strcmp(shell, "bash"))
		return bash_script;
	if (!strcmp(shell, "zsh"))
		return zsh_script;
	if (!strcmp(shell, "fish"))
		return fish_script;
	return NULL;
}
