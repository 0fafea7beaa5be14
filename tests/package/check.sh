#!/bin/sh
# Installs the packages of a folder in a bare Debian 12, runs dvm there, purges them, and compares the files with those before.
# tests/package/check.sh FOLDER; needs root and debootstrap.
set -eu

folder=$(cd "$1" && pwd)
root=$(mktemp -d /tmp/dvm-package.XXXXXX)
chmod 755 "$root"
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT

say() { printf 'package: %s\n' "$*"; }
die() { printf 'package: %s\n' "$*" >&2; exit 1; }
inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
packages() { inside dpkg-query -W -f='${Package}\n' | sort; }
files() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var \) -prune -o -print | sort); }
# expect TEXT COMMAND...: the command prints the text.
expect() {
  wanted=$1
  shift
  inside "$@" 2>&1 | grep -qF -- "$wanted" || die "'$*' does not print '$wanted'"
}

say "a bare Debian 12 in $root"
debootstrap --variant=minbase bookworm "$root" >"$folder/debootstrap.log" 2>&1 || die "debootstrap failed; see $folder/debootstrap.log"
mount -t proc proc "$root/proc"
inside apt-get update -qq
packages >"$folder/packages-before"
files >"$folder/files-before"

say "install"
cp "$folder"/dvm_*.deb "$root/tmp/"
cp "$folder"/dvm-llvm_*.deb "$root/tmp/" 2>/dev/null || say "there is no dvm-llvm"
inside sh -c 'apt-get install -y -qq --no-install-recommends /tmp/dvm*.deb' >"$folder/install.log" 2>&1 || die "see $folder/install.log"

say "run"
expect "commit" dvm --version
expect "dvm 2" dvm run -q -n 'BEGIN { printf("%s %d\n", curpsinfo->pr_fname, ENOENT); exit(0); }'
expect "dtrace: dvm D" /usr/sbin/dtrace -V
printf '#!/usr/sbin/dtrace -qs\nBEGIN { printf("script %%d\\n", $1); exit(0); }\n' >"$root/tmp/script.d"
chmod 755 "$root/tmp/script.d"
expect "script 42" /tmp/script.d 42
expect "opensnoop" dvm tool
expect "kernel" dvm doctor
[ ! -e "$root/usr/lib/dvm/dvm-llvm.so" ] || expect "engines: interp, llvm" sh -c 'dvm --version | grep -v "not here"'
for file in doc/dvm/copyright doc/dvm/docs/manual/README.md man/man1/dvm-tool.1 man/man7/dvm-language.7 doc/dvm/examples/latency.d \
  bash-completion/completions/dvm zsh/vendor-completions/_dvm fish/vendor_completions.d/dvm.fish; do
  [ -e "$root/usr/share/$file" ] || die "/usr/share/$file is missing"
done
say "a copied binary works alone"
inside sh -c 'cp /usr/bin/dvm /tmp/alone'
mv "$root/usr/lib/dvm" "$root/usr/lib/dvm.away"
expect "alone 2" /tmp/alone run -q -n 'BEGIN { printf("%s %d\n", curpsinfo->pr_fname, ENOENT); exit(0); }'
expect "opensnoop" /tmp/alone tool
mv "$root/usr/lib/dvm.away" "$root/usr/lib/dvm"

say "purge"
# shellcheck disable=SC2046  # the list is words
inside apt-get purge -y -qq $(packages | comm -13 "$folder/packages-before" -) >"$folder/purge.log" 2>&1 || die "see $folder/purge.log"
files | diff "$folder/files-before" - || die "these files stayed or are missing"
say "refuse another release"
sed -i 's/^VERSION_ID=.*/VERSION_ID="11"/' "$root/usr/lib/os-release"
files >"$folder/files-before"
inside sh -c 'dpkg -i /tmp/dvm_*.deb' >"$folder/refuse.log" 2>&1 && die "another release takes the package"
grep -q '^dvm: this package is for ' "$folder/refuse.log" || die "no line says which release the package is for; see $folder/refuse.log"
left=$(inside dpkg-query -W -f='${db:Status-Status}' dvm 2>/dev/null) || true
[ "${left:-not-installed}" = not-installed ] || die "the refused package is $left"
files | diff "$folder/files-before" - || die "the refused package left these files"
say "installs, runs and purges cleanly"
