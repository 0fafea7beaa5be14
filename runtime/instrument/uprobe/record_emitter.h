#pragma once
// Emits the parts of a capture program that fill a record from the thread's state: time, thread, arguments, registers and stack.
// capture_program.cpp adds the memory slots and the ring. It says what the registers and the BPF stack hold.

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/instrument/uprobe/file_layout.h"
#include "runtime/instrument/uprobe/kernel_emitter.h"
#include "runtime/instrument/uprobe/record.h"

namespace dvm::runtime {

constexpr int kAttempts = 3;  // slow rounds before memory counts as unreadable

// True if argument n is recorded and is read from memory.
inline bool lies_in_memory(const RecordLayout& layout, unsigned n) {
  return layout.args[n] != 0 && layout.shape.args[n].kind == Operand::Kind::memory;
}

class RecordEmitter : protected KernelEmitter {
 protected:
  RecordEmitter(RecordLayout layout, const PidNamespace& pids, const TaskLayout& tasks)
      : KernelEmitter(pids), layout_(std::move(layout)), tasks_(tasks) {
    has_typed_words_ = layout_.takes_stack_of_other();
  }

  static int16_t at16(uint32_t offset) { return static_cast<int16_t>(offset); }

  void cpu_time();
  void thread_and_time();
  // Loads words that earlier firings of the thread have kept in the map; 0: none, or no map.
  void kept_words(int map);
  // Keeps words of this one. value_at: 8 bytes of the stack that are free.
  void keep_words(int map, int16_t value_at);
  void arguments();
  void registers();
  void user_stack();
  void kernel_stack();
  void stack_bytes();
  // Captures the open file with the descriptor in r8; the record has room for a length and a CapturedFile there.
  void open_file(uint32_t at);
  // Captures that of the process; the record has room as for an open file.
  void working_directory(uint32_t at);
  // Captures that of the running thread's process; the record has room for a length and kMostCommandLine bytes there.
  void command_line(uint32_t at);
  // Captures a number of the process; the record has room for a length and 8 bytes there.
  void process_number(uint32_t at, unsigned number);
  // Likewise; the record has room for a length and kMostAncestors words there.
  void ancestors(uint32_t at);

  // Leaves r1 and r2 unchanged.
  void operand_address(Register to, const Operand& operand);
  void record_address(Register to, uint32_t offset);
  void stack_address(Register to, int32_t at);
  // An address without its top bit as the kernel has it.
  void to_kernel(Register address);

  RecordLayout layout_;         // of the record that is being emitted
  std::vector<Label> to_slow_;  // jumps that are taken when memory cannot be read at once

 private:
  void thread();
  void kept_key(unsigned number);
  void owner();
  void parent();
  void kernel_name(const Operand& address);
  void cpu_time_of_other();
  void read_cpu_time();
  void argument(unsigned n);
  void program_counter(Register to, bool in_process);
  Register user_registers();
  void chain();
  void store_function();
  void memory_argument(unsigned n);
  void add_register(Register to, uint8_t word, uint8_t scale);
  void kernel_word(Register to, Register from, int32_t offset, int32_t bytes = 8);
  void task_address(Register to);
  const FileLayout* begin_file(uint32_t at);
  void find_file(const FileLayout& kernel, uint32_t at, std::vector<Label>& done);
  void end_file(uint32_t at, const std::vector<Label>& done);
  void describe_file(const FileLayout& kernel, uint32_t at);
  void note_hashed(const FileLayout& kernel, uint32_t at);
  void walk_path(const FileLayout& kernel, uint32_t at);
  void step_up(const FileLayout& kernel, uint32_t at, std::vector<Label>& ends);
  void leave_mount(const FileLayout& kernel, uint32_t at, std::vector<Label>& whole);

  TaskLayout tasks_;
};

}  // namespace dvm::runtime
