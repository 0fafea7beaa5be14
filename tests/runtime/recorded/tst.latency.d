/* Entry paired with return by thread-local time; recorded time never goes back.
 * replay: threads.dvm
 */
#pragma D option quiet

pid$target:threads:work:entry { self->at = timestamp; self->value = arg0; }
pid$target:threads:work:return
/self->at/
{
	@pairs = count();
	@backward = sum(timestamp < self->at);
	@wrong = sum(arg1 != self->value + 1);
	self->at = 0;
	self->value = 0;
}
