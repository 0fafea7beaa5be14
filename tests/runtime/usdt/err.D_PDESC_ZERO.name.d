/* The provider is there, the probe is not.
 * run: -c '{programs}/markers_O0 1'
 * program: markers_O0
 * mask: dvmtest\d+
 */
dvmtest$target:::round-start
{
}
