/* run: -c '{programs}/looper 1'
 * needs: uprobes
 */
pid$target:looper:nosuch:entry { trace(1); }
