/* self-> belongs to a thread: four threads keep their own counts.
 * run: -c '{programs}/threads 4 500'
 * needs: uprobes
 * mask: ^\d+ 500
 */
#pragma D option quiet

pid$target:threads:work:entry { self->calls++; @most = max(self->calls); @threads[self->calls == 500 ? "reached 500" : "below"] = count(); }
