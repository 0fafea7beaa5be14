// The shapes of sites. Tested by tests/unit/instrument/record_test.cpp.
#include "runtime/instrument/uprobe/site_shape.h"

namespace dvm::runtime {
namespace {

constexpr std::array<uint8_t, 6> kArgumentRegisters = {saved::rdi, saved::rsi, saved::rdx, saved::rcx, saved::r8, saved::r9};

Operands entry_arguments(int32_t stack_moved) {
  Operands args;
  for (size_t n = 0; n < kArguments; n++) {
    const size_t above = n - kArgumentRegisters.size() + 1;  // words above the return address
    args[n] = n < kArgumentRegisters.size() ? Operand::of_register(kArgumentRegisters[n])
                                            : Operand::memory(saved::rsp, stack_moved + 8 * static_cast<int64_t>(above));
  }
  return args;
}

Operands usual_arguments(SiteKind kind, int32_t stack_moved) {
  Operands args;
  if (kind == SiteKind::entry) args = entry_arguments(stack_moved);
  if (kind == SiteKind::return_) args[1] = Operand::of_register(saved::rax);
  if (kind == SiteKind::timer) args[0] = Operand::counter(0), args[1] = Operand::counter(1);
  return args;
}

}  // namespace

SiteShape::SiteShape(SiteKind kind_, int32_t stack_moved_)
    : kind(kind_), stack_moved(stack_moved_), args(usual_arguments(kind_, stack_moved_)) {}

uint16_t SiteShape::known_args() const {
  unsigned known = 0;
  for (size_t n = 0; n < args.size(); n++) known |= unsigned{args[n].kind != Operand::Kind::none} << n;
  return static_cast<uint16_t>(known);
}

SiteShape entry_shape_of(const UprobeSite& site, int32_t stack_moved) {
  SiteShape shape(SiteKind::entry, stack_moved);
  if (!site.passed) return shape;
  shape.args = *site.passed;
  for (Operand& one : shape.args)
    if (one.kind == Operand::Kind::memory && one.base == saved::rsp) one.value += stack_moved;
  return shape;
}

// The return address is at %rsp, as at an entry; the value is known.
SiteShape exit_shape_of(const UprobeSite& site) {
  SiteShape shape = SiteKind::entry;
  shape.may_name_caller = false;
  shape.args = site.passed.value_or(usual_arguments(SiteKind::return_, 0));
  return shape;
}

SiteShape shape_of(const UprobeSite& site) {
  if (!site.inside && !site.is_return) return entry_shape_of(site, site.stack_moved);
  SiteShape shape = site.inside ? SiteKind::inside : SiteKind::return_;
  if (site.inside) shape.args = *site.inside;
  if (!site.inside && site.passed) shape.args = *site.passed;
  return shape;
}

}  // namespace dvm::runtime
