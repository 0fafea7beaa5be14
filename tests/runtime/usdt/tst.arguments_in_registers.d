/* The same arguments in registers, at symbols and at scaled addresses: what optimized functions have.
 * script: tst.arguments_in_memory.d
 * run: -c '{programs}/markers_O2 3'
 * needs: uprobes
 * program: markers_O2
 */
