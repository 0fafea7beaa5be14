// Tested by tests/unit/code/tail_exits_test.cpp.

#include "runtime/code/tail_exits.h"

#include <algorithm>

#include "runtime/code/exits.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kUnknown = "not all instructions that leave the function are known";
constexpr std::string_view kElsewhere = "it leaves by a jump to a function of another file, or to one that a pointer names";
constexpr std::string_view kMidst = "it leaves by a jump into the middle of another function";
constexpr std::string_view kStack = "it leaves by a jump to another function, and the stack is not known there";
constexpr std::string_view kPart = "a part of its code that lies elsewhere does not return to it";
constexpr std::string_view kCircle = "it leaves by a jump to a function that may jump back";
constexpr std::string_view kMany = "it leaves by jumps to too many functions";

constexpr size_t kMostFunctions = 24, kMostReturns = 96;

bool is_jump(const MachineInstruction& one) { return one.flow == Flow::jump || one.flow == Flow::branch; }

bool lies_in(const FunctionExtent& function, uint64_t offset) {
  return offset >= function.offset && offset - function.offset < function.size;
}

class TailFollower {
 public:
  TailFollower(const FunctionExtent& function, const TailSource& source) : function_(function), source_(source) {}

  TailExits find() {
    const Own own = own_of(function_);
    if (!refuse(own.refusal)) return refused();
    found_.returns = own.returns;
    for (const auto& [jump, target] : own.jumps) {
      found_.jumps.push_back({jump.offset, jump.is_conditional});
      path_ = {function_.offset};
      follow(target, jump.offset, 1);
    }
    return found_.refusal.empty() ? std::move(found_) : refused();
  }

 private:
  // The ways out of one function.
  struct Own {
    std::vector<uint32_t> returns;
    std::vector<std::pair<TailExits::Jump, FunctionExtent>> jumps;
    std::string_view refusal{};
  };

  TailExits refused() const {
    TailExits none;
    none.refusal = found_.refusal;
    return none;
  }
  bool refuse(std::string_view why) {
    if (found_.refusal.empty()) found_.refusal = why;
    return why.empty();
  }

  Own own_of(const FunctionExtent& function) const {
    Own own;
    const CodeBytes bytes = source_.bytes(function);
    const FunctionCode code = decode_function(bytes);
    const Exits exits = find_exits(bytes, [](int64_t) { return Beyond::part; });
    if (!exits.is_complete) own.refusal = kUnknown;
    for (const uint32_t offset : exits.offsets) {
      if (code.at(offset)->flow != Flow::return_) own.refusal = kElsewhere;
      own.returns.push_back(offset);
    }
    for (const MachineInstruction& one : code.instructions) {
      if (!own.refusal.empty()) break;
      const uint64_t target = function.offset + static_cast<uint64_t>(one.target.value_or(0));
      if (is_jump(one) && one.target && !lies_in(function, target)) add_jump(function, one, target, own);
    }
    return own;
  }

  void add_jump(const FunctionExtent& function, const MachineInstruction& one, uint64_t target, Own& own) const {
    constexpr uint64_t kStub = 16;
    if (is_jump_by_pointer(source_.bytes({target, kStub, kStub}))) {
      own.refusal = kElsewhere;
      return;
    }
    const auto there = source_.function_at(target);
    const bool is_tail = source_.is_as_entered(function.offset + one.offset);
    if (there && is_tail && source_.is_as_entered(target))
      own.jumps.push_back({{one.offset, one.flow == Flow::branch}, *there});
    else if (!leads_back_from(there ? there : source_.function_around(target), function))
      own.refusal = there ? kStack : is_tail ? kMidst : kPart;
  }

  // From what lies elsewhere at the offset.
  bool leads_back_from(const std::optional<FunctionExtent>& part, const FunctionExtent& function) const {
    return part && only_leads_back(source_.bytes(*part), static_cast<int64_t>(function.offset - part->offset), function.size);
  }

  void follow(const FunctionExtent& function, uint32_t by, uint32_t depth) {
    if (std::find(path_.begin(), path_.end(), function.offset) != path_.end()) refuse(kCircle);
    if (++visits_ > kMostFunctions || found_.others.size() > kMostReturns) refuse(kMany);
    if (!found_.refusal.empty()) return;
    const auto [known, is_new] = owns_.try_emplace(function.offset);
    if (is_new) known->second = own_of(function);
    const Own& own = known->second;
    if (!refuse(own.refusal)) return;
    path_.push_back(function.offset);
    for (const uint32_t offset : own.returns) add_other(function, offset, by, depth);
    for (const auto& [jump, target] : own.jumps) follow(target, by, depth + 1);
    path_.pop_back();
  }

  void add_other(const FunctionExtent& function, uint32_t offset, uint32_t by, uint32_t depth) {
    for (TailExits::Other& other : found_.others) {
      if (other.function.offset != function.offset || other.offset != offset) continue;
      other.depth = std::max(other.depth, depth);
      if (other.by != by) other.by.reset();
      return;
    }
    found_.others.push_back({function, offset, depth, by});
  }

  const FunctionExtent& function_;
  const TailSource& source_;
  TailExits found_;
  std::vector<uint64_t> path_;  // of the functions that were jumped through
  std::map<uint64_t, Own> owns_;
  size_t visits_ = 0;
};

}  // namespace

TailExits find_tail_exits(const FunctionExtent& function, const TailSource& source) {
  return TailFollower(function, source).find();
}

}  // namespace dvm::runtime
