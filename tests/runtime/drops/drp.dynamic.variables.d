/*
 * ASSERTION: a dynamic variable that finds no room is a drop and reads as zero; assigning zero gives room again.
 * SECTION: Variables/Dynamic variable drops
 * mask: ^dvm: \d+ dynamic
 */
#pragma D option quiet
#pragma D option dynvarsize=400

BEGIN { a[1] = 1; a[2] = 2; a[3] = 3; a[4] = 4; a[5] = 5; a[6] = 6; a[7] = 7; a[8] = 8; printf("%d %d\n", a[1], a[8]); }
BEGIN { a[1] = 0; a[9] = 9; printf("%d %d\n", a[1], a[9]); exit(0); }
