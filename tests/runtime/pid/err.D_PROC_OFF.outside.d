/* run: -c '{programs}/sites'
 * needs: uprobes
 */
pid$target:sites:site_copy:fff { trace(1); }
