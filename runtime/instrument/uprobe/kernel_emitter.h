#pragma once
// The part of programs at tracepoints that is not capturing: it finds words in the kernel, and ends unwanted firings early.
//
//   gate     system call: is its number meant? which probe?   else: the probe is known
//            the process: dvm itself never; only those that the clauses ask for, if they do
//            the conditions of the event
//
// Registers: r6 the context or, at a system call, the registers of the thread in its process; r9 the probe's id. The word at fp-8
// is for what is read on the way. All others but r7 and r8 may be changed.

#include <string>
#include <vector>

#include "runtime/instrument/uprobe/capture_inputs.h"
#include "runtime/instrument/uprobe/emitter.h"
#include "runtime/instrument/uprobe/record.h"

namespace dvm::runtime {

// Marks a key in the map of followed processes whose number is not the kernel's, but the one that dvm sees in its pid
// namespace.
inline constexpr uint64_t kSeenFromInside = uint64_t{1} << 32;

class KernelEmitter : public BpfEmitter {
 public:
  // Numbers of threads and processes are those of the namespace.
  explicit KernelEmitter(const PidNamespace& pids) : pids_(pids) {}

  // r1: the operand's value, all of it. r2 to r5 and r0 are changed.
  void kernel_operand(const Operand& operand);
  // Leaves of the register what counts of it.
  void widen(Register value, const Operand& operand);
  // r0: process id in the upper half, thread id in the lower one; both negative if the thread has none in the namespace.
  void this_thread();

  // Copies the name of the thread, kCommBytes padded with NULs. r0 to r5 are changed.
  void this_name(Register to, int16_t at);

  // r0: what the map of followed processes has of this process (followed.h), or 0. Its key lies at fp-8.
  void find_followed(int map);
  // Ends early in processes that do not come from the one that is traced.
  void only_followed(int map, int32_t root);

  // Sets r6 and r9.
  void gate(const CaptureGate& gate, const RecordLayout& layout);
  // The end that the gate goes to if the firing is not wanted.
  void leave_unwanted();

 protected:
  // The words of the tracepoint have types: the verifier permits little arithmetic with them, so they are copied first.
  bool has_typed_words_ = false;

  void handed_word(Register to, uint8_t word);
  // r3: the address at the end of the path.
  void follow(const Operand& operand);
  // r1: the number in the namespace of the process or thread whose numbers begin at r3; 0: it has none. All but r6 to r9 are
  // changed.
  void number_at();

  PidNamespace pids_;
  int16_t free_at_ = -32;  // 24 bytes of the BPF stack

 private:
  void look_up_followed(int map);
  void find_probe(const CaptureGate& gate);
  void check_process(const CaptureGate& gate, const RecordLayout& layout);
  void check_name(const std::vector<std::string>& names, const RecordLayout& layout, std::vector<Label>& found);
  void check(const KernelGateCondition& condition);
  void leave_if(uint8_t condition, Register left, int32_t right) { unwanted_.push_back(jump_if(condition, left, right)); }
  void number(const Operand& operand);
  void number_of_this_thread();
  void result();

  std::vector<Label> unwanted_;
};

}  // namespace dvm::runtime
