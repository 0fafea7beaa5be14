/* Options alone are no program. */
#pragma D option quiet
