// The part of a capture program that describes an open file (captured_file.h). Tested by
// tests/unit/instrument/uprobe_file_test.cpp.
//
// It walks from the file's directory entry to the root as the kernel's d_path() does, but without that function's locks, which
// BPF cannot take. In the end it looks whether the descriptor still is this file.
#include <cstddef>

#include "runtime/instrument/uprobe/record_emitter.h"
#include "runtime/process/captured_file.h"

namespace dvm::runtime {
namespace {

constexpr int kMostSteps = 32;  // names and mounts on the way to the root
constexpr auto kNames = static_cast<int32_t>(CapturedFile::kNames);
static_assert((CapturedFile::kNames & (CapturedFile::kNames - 1)) == 0);  // a mask bounds offsets

int16_t member(uint32_t at, size_t offset) { return static_cast<int16_t>(at + 8 + offset); }

#define DVM_FILE(name) member(at, offsetof(CapturedFile, name))

}  // namespace

// to: the word (or as many bytes, widened by zeros) at the kernel's address from + offset; 0 if it cannot be read.
void RecordEmitter::kernel_word(Register to, Register from, int32_t offset, int32_t bytes) {
  mov(r3, from);
  if (offset) plus(r3, offset);
  if (bytes != 8) store(fp, -8, 0);
  mov(r1, fp);
  plus(r1, -8);
  mov(r2, bytes);
  call(BPF_FUNC_probe_read_kernel);
  load(to, fp, -8);
}

// Null if the kernel does not tell where it keeps files.
const FileLayout* RecordEmitter::begin_file(uint32_t at) {
  store(r7, at16(at), static_cast<int32_t>(kAbsent));
  if (!file_layout()) return nullptr;
  store(r7, DVM_FILE(end), CapturedFile::not_open);
  store(r7, DVM_FILE(names_size), 0);
  return &*file_layout();
}

void RecordEmitter::open_file(uint32_t at) {
  const FileLayout* kernel = begin_file(at);
  if (kernel == nullptr) return;
  std::vector<Label> done;
  find_file(*kernel, at, done);
  describe_file(*kernel, at);
  walk_path(*kernel, at);
  end_file(at, done);
}

// The place that led to the file must still hold the same.
void RecordEmitter::end_file(uint32_t at, const std::vector<Label>& done) {
  load(r3, r7, DVM_FILE(place));
  kernel_word(r1, r3, 0);
  load(r2, r7, DVM_FILE(file));
  const Label same = jump_if(BPF_JEQ, r1, r2);
  store(r7, DVM_FILE(end), CapturedFile::changed);
  land(same);
  for (const Label label : done) land(label);
  for (const int16_t address : {DVM_FILE(place), DVM_FILE(file), DVM_FILE(entry), DVM_FILE(mount), DVM_FILE(mount_root)})
    store(r7, address, 0);
  load(r1, r7, DVM_FILE(names_size));
  plus(r1, static_cast<int32_t>(offsetof(CapturedFile, names)));
  store(r7, at16(at), r1);
}

// Its entry stands in place of the file.
void RecordEmitter::working_directory(uint32_t at) {
  const FileLayout* kernel = begin_file(at);
  if (kernel == nullptr) return;
  std::vector<Label> done;
  task_address(r3);
  kernel_word(r8, r3, kernel->directories);
  done.push_back(jump_if(BPF_JEQ, r8, 0));  // a process that ends
  plus(r8, kernel->directory_entry);
  store(r7, DVM_FILE(place), r8);
  kernel_word(r1, r8, 0);
  store(r7, DVM_FILE(file), r1);
  store(r7, DVM_FILE(entry), r1);
  note_hashed(*kernel, at);
  kernel_word(r1, r8, kernel->directory_mount - kernel->directory_entry);
  store(r7, DVM_FILE(mount_root), r1);
  walk_path(*kernel, at);
  end_file(at, done);
}

void RecordEmitter::task_address(Register to) {
  if (layout_.shape.thread.is_given()) return handed_word(to, layout_.shape.thread.task);
  call(BPF_FUNC_get_current_task);
  mov(to, r0);
}

// The lower 32 bits of r8 are a descriptor.
void RecordEmitter::find_file(const FileLayout& kernel, uint32_t at, std::vector<Label>& done) {
  shift_left(r8, 32);
  shift_right(r8, 32);
  task_address(r3);
  kernel_word(r1, r3, kernel.files);
  done.push_back(jump_if(BPF_JEQ, r1, 0));  // a thread of the kernel, or one that ends
  kernel_word(r1, r1, kernel.table);
  store(r7, DVM_FILE(place), r1);
  kernel_word(r2, r1, kernel.size, 4);
  done.push_back(jump_if(BPF_JGE, r8, r2));
  load(r3, r7, DVM_FILE(place));
  kernel_word(r1, r3, kernel.closes);
  mov(r2, r8);
  shift_right(r2, 6);
  shift_left(r2, 3);
  plus(r1, r2);
  kernel_word(r1, r1, 0);
  store(r7, DVM_FILE(closes_on_exec), r1);
  load(r3, r7, DVM_FILE(place));
  kernel_word(r1, r3, kernel.descriptors);
  shift_left(r8, 3);
  plus(r1, r8);
  store(r7, DVM_FILE(place), r1);
  kernel_word(r1, r1, 0);
  done.push_back(jump_if(BPF_JEQ, r1, 0));
  store(r7, DVM_FILE(file), r1);
}

void RecordEmitter::describe_file(const FileLayout& kernel, uint32_t at) {
  const auto keep = [&](int16_t to, int32_t offset, int32_t bytes = 8) {
    load(r3, r7, DVM_FILE(file));
    kernel_word(r1, r3, offset, bytes);
    store(r7, to, r1);
  };
  keep(DVM_FILE(position), kernel.position);
  keep(DVM_FILE(flags), kernel.flags, 4);
  keep(DVM_FILE(entry), kernel.path_entry);
  keep(DVM_FILE(mount_root), kernel.path_mount);  // of the vfsmount, until walk_path()
  note_hashed(kernel, at);
  keep(DVM_FILE(inode), kernel.inode);
  load(r3, r7, DVM_FILE(inode));
  kernel_word(r8, r3, kernel.super_block);
  load(r3, r7, DVM_FILE(inode));
  kernel_word(r1, r3, kernel.number);
  store(r7, DVM_FILE(inode), r1);
  kernel_word(r1, r8, kernel.type);
  kernel_word(r3, r1, kernel.type_name);
  store(r7, DVM_FILE(type), 0);
  record_address(r1, static_cast<uint32_t>(DVM_FILE(type)));
  mov(r2, static_cast<int32_t>(CapturedFile::kLongestType));
  call(BPF_FUNC_probe_read_kernel_str);
}

// The root of a file system is its own parent, and is not hashed although it has its name.
void RecordEmitter::note_hashed(const FileLayout& kernel, uint32_t at) {
  load(r3, r7, DVM_FILE(entry));
  kernel_word(r1, r3, kernel.hashed);
  store(r7, DVM_FILE(hashed), r1);
  load(r3, r7, DVM_FILE(entry));
  kernel_word(r1, r3, kernel.parent);
  load(r2, r7, DVM_FILE(entry));
  const Label below = jump_if(BPF_JNE, r1, r2);
  store(r7, DVM_FILE(hashed), 1);
  land(below);
}

// r8: how many bytes the names have.
void RecordEmitter::walk_path(const FileLayout& kernel, uint32_t at) {
  std::vector<Label> ends, whole;
  store(r7, DVM_FILE(end), CapturedFile::cut);
  store(r7, DVM_FILE(below_mount), -1);
  load(r3, r7, DVM_FILE(mount_root));
  mov(r1, r3);
  if (kernel.own) plus(r1, -kernel.own);
  store(r7, DVM_FILE(mount), r1);
  kernel_word(r1, r3, kernel.mount_root);
  store(r7, DVM_FILE(mount_root), r1);
  mov(r8, 0);
  for (int step = 0; step < kMostSteps; step++) {
    bits_and(r8, kNames - 1);
    load(r1, r7, DVM_FILE(entry));
    load(r2, r7, DVM_FILE(mount_root));
    const Label is_root = jump_if(BPF_JEQ, r1, r2);
    step_up(kernel, at, ends);
    const Label next = jump();
    land(is_root);
    leave_mount(kernel, at, whole);
    land(next);
  }
  ends.push_back(jump());
  for (const Label label : whole) land(label);
  store(r7, DVM_FILE(end), CapturedFile::whole);
  for (const Label label : ends) land(label);
  store(r7, DVM_FILE(names_size), r8);
}

// Takes the entry's name and goes on at its parent.
void RecordEmitter::step_up(const FileLayout& kernel, uint32_t at, std::vector<Label>& ends) {
  load(r3, r7, DVM_FILE(entry));
  kernel_word(r1, r3, kernel.name);
  mov(r3, r1);
  record_address(r1, static_cast<uint32_t>(DVM_FILE(names)));
  plus(r1, r8);
  mov(r2, static_cast<int32_t>(CapturedFile::kLongestName));
  call(BPF_FUNC_probe_read_kernel_str);
  ends.push_back(jump_if(BPF_JSLE, r0, 0));
  plus(r8, r0);
  load(r3, r7, DVM_FILE(entry));
  kernel_word(r1, r3, kernel.parent);
  load(r2, r7, DVM_FILE(entry));
  ends.push_back(jump_if(BPF_JEQ, r1, r2));
  store(r7, DVM_FILE(entry), r1);
  ends.push_back(jump_if(BPF_JGE, r8, kNames));
}

// Goes on where the file system is mounted.
void RecordEmitter::leave_mount(const FileLayout& kernel, uint32_t at, std::vector<Label>& whole) {
  load(r3, r7, DVM_FILE(mount));
  kernel_word(r1, r3, kernel.mount_parent);
  load(r3, r7, DVM_FILE(mount));
  whole.push_back(jump_if(BPF_JEQ, r1, r3));
  store(r7, DVM_FILE(mount), r1);
  kernel_word(r1, r3, kernel.mount_point);
  store(r7, DVM_FILE(entry), r1);
  load(r3, r7, DVM_FILE(mount));
  kernel_word(r1, r3, kernel.own + kernel.mount_root);
  store(r7, DVM_FILE(mount_root), r1);
  load(r1, r7, DVM_FILE(below_mount));
  const Label known = jump_if(BPF_JNE, r1, -1);
  store(r7, DVM_FILE(below_mount), r8);
  land(known);
}

}  // namespace dvm::runtime
