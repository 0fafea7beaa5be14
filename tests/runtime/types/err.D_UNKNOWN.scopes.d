/* Two namespaces have a type of this name.
 * run: -c '{programs}/classes'
 * needs: uprobes
 */
BEGIN
{
	trace(sizeof (struct `Named));
}
