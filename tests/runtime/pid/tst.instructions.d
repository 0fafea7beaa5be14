/* Each instruction of a function that is executed, in order: with an empty name, by one offset, by a glob.
 * run: -c '{programs}/sites'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:sites:site_copy: /arg0 == 3 && probename != "return"/ { printf("%s\n", probename); }
pid$target:sites:site_copy:6 /arg0 == 3/ { printf("at %s: %d %d\n", probename, arg0, arg1); }
pid$target:sites:site_copy:b /arg0 == 3/ { exit(0); }
pid$target:sites:site_room:4 /arg0 == 3/ { printf("at %s: %d %d\n", probename, arg0, arg5); }
pid$target:sites:site_room:1[0-9a-f] /arg0 == 3/ { printf("room %s\n", probename); }
