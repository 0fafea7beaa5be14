// Tested by tests/unit/instrument/site_code_test.cpp and tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/stub.h"

#include <optional>

#include "runtime/agent/code_bytes.h"

namespace dvm::runtime {
namespace {

// Adds instructions that are displaced from an offset of the window on. False: some cannot be.
bool add_displaced(Stub& stub, CodeWriter& code, const StubRequest& request, uint32_t begin, uint32_t end, bool& falls_through) {
  const uint32_t at = static_cast<uint32_t>(code.bytes().size());
  const DisplacedCode part = displace(request.window.subspan(begin, end - begin), request.address + begin, code.here());
  stub.refusal = part.refusal;
  for (const MovedInstruction& one : part.moved) {
    stub.moved.push_back({begin + one.from, at + one.to});
    code.note_frame({at + one.to, 0, 0, request.address + begin + one.from});
  }
  code.add(std::span(part.bytes));
  falls_through = part.falls_through;
  return stub.refusal.empty();
}

// The condition of the branch that the bytes begin with.
std::optional<unsigned char> condition_of(CodeBytes code) {
  constexpr unsigned char kShort = 0x70, kFar = 0x80, kMore = 0x0f;
  const auto is_of = [&](size_t at, unsigned char opcode) { return at < code.size() && (code[at] & 0xf0) == opcode; };
  if (is_of(0, kShort)) return code[0] & 0xf;
  if (is_of(1, kFar) && code[0] == kMore) return code[1] & 0xf;
  return std::nullopt;
}

void add_call(CodeWriter& code, const StubRequest& request) {
  const uint64_t probed = request.address + request.probed;
  code.note_frame(0, 0, probed);
  code.add({0x48, 0x8d, 0x64, 0x24, 0x80});  // lea -128(%rsp), %rsp
  code.note_frame(128, 0, probed);
  code.add({0x57});  // push %rdi
  code.note_frame(136, 0, probed);
  code.load(GeneralRegister::rdi, request.site);
  code.call(request.enter);
  code.add({0x5f});  // pop %rdi
  code.note_frame(128, 0, probed);
  code.add({0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00});  // lea 128(%rsp), %rsp
  code.note_frame(0, 0, probed);
}

// The function returns what agent_frame has found, if it has found anything.
void add_frame_search(CodeWriter& code, const StubRequest& request) {
  constexpr unsigned char kEqual = 0x84;
  code.add({0x52});  // push %rdx
  code.note_frame(8, 0, request.address);
  code.load(GeneralRegister::rdx, request.place.context.own);
  code.call(request.place.code_at + request.place.entries.frame);
  code.add({0x5a});  // pop %rdx
  code.note_frame(0, 0, request.address);
  code.add({0x48, 0x85, 0xc0});  // test %rax, %rax
  const size_t none = code.jump_ahead({0x0f, kEqual});
  code.add({0xc3});
  code.land(none);
}

}  // namespace

Stub make_stub(const StubRequest& request) {
  Stub stub;
  CodeWriter code(request.stub);
  const auto length = static_cast<uint32_t>(request.window.size());
  bool falls_through = true;
  if (request.probed != 0 && !add_displaced(stub, code, request, 0, request.probed, falls_through)) return stub;
  const size_t first = stub.moved.size();
  const auto fires_at = static_cast<uint32_t>(code.bytes().size());
  std::vector<size_t> done;
  code.note_frame(0, 0, request.address + request.probed);
  if (request.is_conditional) {
    const auto condition = condition_of(request.window.subspan(request.probed));
    if (!condition) return stub.refusal = "the function leaves by a kind of branch that compilers do not use", stub;
    done.push_back(code.jump_ahead({0x0f, static_cast<unsigned char>(0x80 | (*condition ^ 1))}));
  }
  uint64_t rest_at = 0;
  size_t rest_bytes = 0;
  const auto add_rest = [&] {
    rest_at = code.here();
    for (const size_t jump : done) code.land(jump);
    if (add_displaced(stub, code, request, request.probed, length, falls_through) && falls_through) {
      code.note_frame(0, 0, request.address + length);
      code.jump(request.address + length);
    }
    rest_bytes = code.here() - rest_at;
  };
  const uint64_t begin = code.here();
  const bool has_rest = add_site_code(code, request.firers, request.place, add_rest);
  const size_t site_bytes = code.here() - begin - rest_bytes;
  if (request.fires) add_call(code, request);
  if (request.finds_frames) add_frame_search(code, request);
  has_rest ? code.jump(rest_at) : add_rest();
  if (!stub.refusal.empty()) return stub;
  stub.moved[first].to = fires_at;  // a thread that stands before the probed instruction has yet to fire
  stub.frames = code.frames();
  stub.bytes = code.take();
  if (stub.bytes.size() - site_bytes > kMostStubBytes) stub.refusal = "the copy of its instructions is too long";
  return stub;
}

}  // namespace dvm::runtime
