/* What looks into a kernel is known by name, and says why it cannot be had. */
BEGIN { trace(mutex_owned(0)); }
BEGIN { trace(mutex_owner(0)); }
BEGIN { trace(mutex_type_adaptive(0)); }
BEGIN { trace(mutex_type_spin(0)); }
BEGIN { trace(rw_read_held(0)); }
BEGIN { trace(rw_write_held(0)); }
BEGIN { trace(rw_iswriter(0)); }
BEGIN { trace(msgsize(0)); }
BEGIN { trace(msgdsize(0)); }
BEGIN { trace(ddi_pathname(0, 0)); }
BEGIN { trace(getf(0)); }
