/* The same of a static program.
 * script: tst.objects.d
 * run: -c '{programs}/objects_static'
 * needs: uprobes
 */
