/* No file of the process has markers of this provider.
 * run: -c '{programs}/markers_O0 1'
 * program: markers_O0
 * mask: dvmtset\d+
 */
dvmtset$target:::round-begin
{
}
