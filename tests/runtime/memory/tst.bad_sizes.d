/* Sizes that are nothing, negative or huge.
 * run: -c '{programs}/victim 1 5000'
 * needs: uprobes
 */
#pragma D option quiet
pid$target:victim:look:entry { this->size = 1 << 30; trace(copyin(arg2, this->size)); printf("not reached\n"); }
pid$target:victim:look:entry { this->size = -1; trace(copyin(arg2, this->size)); printf("not reached\n"); }
pid$target:victim:look:entry { this->size = 0; this->none = (char *)copyin(arg0, this->size); printf("nothing of nowhere\n"); }
BEGIN { this->size = 0; printf("%d\n", alloca(this->size) != NULL); }
BEGIN { this->size = -1; this->p = alloca(this->size); printf("not reached\n"); }
BEGIN { this->size = 1 << 30; this->p = alloca(this->size); printf("not reached\n"); }
BEGIN { this->p = alloca(8); bcopy("abc", this->p, -1); printf("not reached\n"); }
BEGIN { this->p = alloca(8); bcopy("abc", this->p, 4096); printf("not reached\n"); }
BEGIN { this->p = alloca(8); bcopy("abc", this->p, 0); printf("nothing copied\n"); }
BEGIN { this->p = alloca(8); bcopy("abcdefghijkl", this->p, 13); printf("not reached\n"); }
pid$target:victim:look:entry { exit(0); }
ERROR { printf("fault %d\n", arg4); }
