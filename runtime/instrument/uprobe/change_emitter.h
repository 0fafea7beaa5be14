#pragma once
// Tells dvm of a change by a record in the ring (record.h), in its place among the firings.

#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/kernel_emitter.h"

namespace dvm::runtime {

class ChangeEmitter : protected KernelEmitter {
 protected:
  using KernelEmitter::KernelEmitter;

  static constexpr int32_t kRecordBytes = 24;

  // r7: the process. r8: its child. The record lies at fp+at. r0 to r5 are changed.
  void tell(ProcessChange::What what, int ring, int16_t at) {
    load_constant(r1, static_cast<int64_t>(make_cookie(static_cast<uint32_t>(what), kChangesGroup)));
    store(fp, at, r1);
    store(fp, static_cast<int16_t>(at + 8), r7);
    store(fp, static_cast<int16_t>(at + 16), r8);
    load_map(r1, ring);
    mov(r2, fp);
    plus(r2, at);
    mov(r3, kRecordBytes);
    mov(r4, BPF_RB_NO_WAKEUP);
    call(BPF_FUNC_ringbuf_output);
  }

  void end() {
    mov(r0, 0);
    exit();
  }
};

}  // namespace dvm::runtime
