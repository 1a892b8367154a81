#!/bin/sh
# Golden transcripts of the terminal debugger: check.sh HOSTIR [--update]
#
# The first line of each *.txt beside this script is the command (`$ hostir debug ...`), the rest is
# what it prints; the lines behind the prompt are the commands typed. Each is run again and compared.
set -u
hostir=$1
folder=$(dirname "$0")
commands=$(mktemp)
output=$(mktemp)
trap 'rm -f "$commands" "$output"' EXIT
status=0
for transcript in "$folder"/*.txt; do
  arguments=$(sed -n '1s/^\$ hostir //p' "$transcript")
  sed -n 's/^(hostir) //p' "$transcript" | sed '/^$/d' > "$commands"
  {
    printf '$ hostir %s\n' "$arguments"
    eval "\"$hostir\" $arguments -x \"$commands\"" 2>&1
    echo "exit status $?"
  } > "$output"
  if [ "${2:-}" = --update ]; then
    cp "$output" "$transcript"
  elif ! diff -u "$transcript" "$output"; then
    echo "FAILED $transcript"
    status=1
  fi
done
exit $status
