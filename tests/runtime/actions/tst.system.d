/* system() runs a shell command with the values of the firing; setopt() changes an option from then on.
 * run: -w
 */
BEGIN { system("echo from the shell: %d %s", 5, "x"); }
BEGIN { setopt("quiet"); printf("quiet now\n"); }
BEGIN { exit(0); }
