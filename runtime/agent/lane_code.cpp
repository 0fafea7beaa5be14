#include "runtime/agent/lane_code.h"

#include <bit>

namespace dvm::runtime {
namespace {

using Register = GeneralRegister;

constexpr unsigned char kBelow = 0x82, kEqual = 0x84, kNotEqual = 0x85;
constexpr unsigned char kLaneBits = std::countr_zero(sizeof(inside::Lane));

}  // namespace

// Of the thread, in %rax.
void LaneCode::add_number(bool has_variables, bool has_data) {
  static_assert(offsetof(inside::ArmedPage, armed) == 0 && offsetof(inside::ArmedPage, variables) == sizeof(uint16_t));
  constexpr uint32_t kThread = static_cast<uint32_t>(inside::VariablesIn::thread) << 16;
  if (!has_data) code_.load(Register::rax, context_.armed);
  if (!has_variables) code_.add({0x66});
  code_.add({static_cast<unsigned char>(has_variables ? 0x81 : 0x83)});  // cmpl or cmpw, of the page
  has_data ? code_.add({0xb9}, context_.armed - context_.data) : code_.add({0x38});
  has_variables ? code_.add({}, kThread | inside::kAlone) : code_.add({inside::kAlone});
  other_if(kNotEqual);
  // Where the page is kAlone, each thread has a control block (arm_alone, sets_block). So rdfsbase is not needed, which waits for
  // all earlier instructions.
  code_.add({0x64, 0x8b, 0x04, 0x25}, context_.thread_offset);  // mov %fs:thread_offset, %eax
  code_.add({0x85, 0xc0});                                      // test %eax, %eax
  other_if(kEqual);
}

// Of its lane from the first one, in %ebx or %ebp.
void LaneCode::add_distance(unsigned char to) {
  if (context_.lanes == 256) {
    code_.add({0x0f, 0xb6, static_cast<unsigned char>(0xc0 | to << 3)});  // movzbl %al, %to
  } else {
    code_.add({0x89, static_cast<unsigned char>(0xc0 | to)});                      // mov %eax, %to
    code_.add({0x81, static_cast<unsigned char>(0xe0 | to)}, context_.lanes - 1);  // and $mask, %to
  }
  code_.add({0xc1, static_cast<unsigned char>(0xe0 | to), kLaneBits});  // shl $kLaneBits, %to
}

void LaneCode::check_owner() {
  code_.add({0x48, 0x39, 0x03});  // cmp %rax, (%rbx)
  other_if(kNotEqual);
}

std::vector<size_t> LaneCode::find(bool has_variables) {
  add_number(has_variables, false);
  add_distance(static_cast<unsigned char>(Register::rbx));
  code_.add_to_rbx(place_.context_at + offsetof(inside::Context, lane));
  check_owner();
  return others_;
}

std::vector<size_t> LaneCode::find_free(bool has_variables, bool keeps_distance) {
  const Register distance = keeps_distance ? Register::rbp : Register::rbx;
  code_.read_rcx_from(place_.context_at + offsetof(inside::Context, data));  // shorter than the constant
  add_number(has_variables, true);
  add_distance(static_cast<unsigned char>(distance));
  const auto with = static_cast<unsigned char>(static_cast<unsigned>(distance) << 3 | static_cast<unsigned>(Register::rcx));
  code_.add({0x48, 0x8d, 0x9c, with}, sizeof(inside::DataHeader));  // lea lanes(%rcx,%distance), %rbx
  check_owner();
  code_.add({0xf6, 0x43, offsetof(inside::Lane, turns), 1});  // testb $1, turns(%rbx)
  other_if(kNotEqual);
  return others_;
}

void LaneCode::take() {
  code_.add({0x48, 0xc7, 0x84, 0x24}, 8 * inside::kGuardWord);  // movq $kGuard, (%rsp): for inside/ended.h
  code_.add({}, inside::kGuard);
  code_.store(Register::rsp, Register::rbx, offsetof(inside::Lane, frame));
  add_turn();
}

void LaneCode::add_turn() { code_.add({0x48, 0xff, 0x43, offsetof(inside::Lane, turns)}); }  // incq turns(%rbx)

size_t LaneCode::jump_in_child(bool has_data) {
  constexpr unsigned char kPid = offsetof(inside::ArmedPage, pid);
  if (!has_data) code_.load(Register::rax, context_.armed);
  has_data ? code_.add({0x48, 0x83, 0xb9}, context_.armed + kPid - context_.data) : code_.add({0x48, 0x83, 0x78, kPid});
  code_.add({0});  // cmpq $0, of the page
  return code_.jump_ahead({0x0f, kEqual});
}

size_t LaneCode::end_run() {
  static_assert(inside::VariablesIn::nowhere == inside::VariablesIn{0});
  code_.load(Register::rax, context_.data);
  code_.add({0x48, 0xc7, 0x40, offsetof(inside::DataHeader, variables)}, 0);  // movq $0, variables(%rax)
  code_.load(Register::rax, context_.armed);
  code_.add({0x66, 0xc7, 0x40, offsetof(inside::ArmedPage, variables), 0, 0});  // movw
  return code_.jump_ahead({0xe9});
}

void LaneCode::give_back(bool has_data) {
  const size_t in_child = jump_in_child(has_data);
  add_turn();
  code_.add({0x48, 0xc7, 0x43, offsetof(inside::Lane, frame)}, 0);  // movq $0, frame(%rbx)
  code_.land(in_child);
}

void LaneCode::find_ring() {
  code_.add({0x48, 0x89, 0xe8});                                                                                 // mov %rbp, %rax
  code_.add({0x48, 0xc1, 0xe0, static_cast<unsigned char>(std::countr_zero(context_.ring_bytes) - kLaneBits)});  // shl
  code_.load(Register::rcx, context_.data + inside::rings_at(context_.lanes));
  code_.add({0x48, 0x01, 0xc8});  // add %rcx, %rax
}

// dvm may say at any time which one it is.
void LaneCode::find_side() {
  code_.add({0x8b, 0x43, offsetof(inside::Lane, arena)});  // mov arena(%rbx), %eax
  code_.add({0x83, 0xe0, 0x01});                           // and $1, %eax
}

void LaneCode::find_arena(bool has_data) {
  constexpr unsigned char kArenaBits = std::countr_zero(inside::kArenaBytes);
  code_.add({0xc1, 0xe0, kArenaBits});                  // shl $kArenaBits, %eax
  code_.add({0xc1, 0xe5, kArenaBits + 1 - kLaneBits});  // shl, %ebp
  code_.add({0x48, 0x01, 0xc5});                        // add %rax, %rbp
  const uint64_t arenas = inside::arenas_at(context_.lanes, context_.ring_bytes);
  if (has_data && arenas <= INT32_MAX) return code_.add({0x48, 0x8d, 0xac, 0x29}, arenas);  // lea arenas(%rcx,%rbp), %rbp
  code_.load(Register::rax, arenas + context_.data);
  code_.add({0x48, 0x01, 0xc5});
}

// It is not before the last one. If a signal handler fires behind the comparison, its time is lost as the last one. The next time
// is later than that anyway, unless dvm has published a line that goes back.
std::array<size_t, 2> LaneCode::find_time(bool has_data) {
  constexpr unsigned char kNumber = offsetof(inside::DataHeader, clock_number), kTime = offsetof(inside::Lane, time);
  constexpr unsigned char kRate = offsetof(inside::DataHeader, clock) + offsetof(inside::ClockLine, rate),
                          kBegin = offsetof(inside::DataHeader, clock) + offsetof(inside::ClockLine, begin);
  static_assert(inside::kTickBits == 3);
  code_.add({0x0f, 0x31, 0x48, 0xc1, 0xe2, 32 + inside::kTickBits, 0x48, 0x8d, 0x04, 0xc2});  // rdtsc; shl; lea (%rdx,%rax,8)
  if (!has_data) code_.load(Register::rcx, context_.data);
  code_.read(Register::r8, Register::rcx, kNumber);
  code_.add({0x41, 0x0f, 0xb6, 0xd0});          // movzbl %r8b, %edx
  code_.add({0x48, 0xf7, 0x64, 0x11, kRate});   // mulq rate(%rcx,%rdx)
  code_.add({0x41, 0x0f, 0xb6, 0xc0});          // movzbl %r8b, %eax
  code_.add({0x48, 0x03, 0x54, 0x01, kBegin});  // add begin(%rcx,%rax), %rdx
  code_.add({0x4c, 0x3b, 0x41, kNumber});       // cmp number(%rcx), %r8
  const size_t is_published = code_.jump_ahead({0x0f, kNotEqual});
  code_.add({0x48, 0x3b, 0x53, kTime});  // cmp time(%rbx), %rdx
  const size_t is_before = code_.jump_ahead({0x0f, kBelow});
  code_.store(Register::rdx, Register::rbx, kTime);
  return {is_published, is_before};
}

}  // namespace dvm::runtime
