/* run: -c '{programs}/sites'
 * needs: uprobes
 */
pid$target:sites:site_copy:4 { trace(1); }
