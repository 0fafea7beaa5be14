/* Calls indented by entry and return.
 * run: -F -c '{programs}/looper 2'
 * needs: uprobes
 * mask: [0-9.]+ ns/call
 */
pid$target:looper:main:entry, pid$target:looper:main:return, pid$target:looper:func:entry, pid$target:looper:func:return
{
}
