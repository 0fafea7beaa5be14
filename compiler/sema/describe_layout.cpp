// Types to layouts. Tests: tests/runtime/print.
#include "compiler/sema/describe_layout.h"

#include <algorithm>

namespace dvm::compiler {

namespace {

using dif::LayoutKind;

LayoutKind kind_of(const Type& t) {
  switch (t.cls) {
    case TypeClass::integer:
      return t.is_char && t.is_signed ? LayoutKind::character : LayoutKind::integer;
    case TypeClass::floating:
      return LayoutKind::floating;
    case TypeClass::string:
      return LayoutKind::string;
    case TypeClass::pointer:
      return resolve(*t.target).cls == TypeClass::function ? LayoutKind::function_pointer : LayoutKind::pointer;
    case TypeClass::function:
      return LayoutKind::function_pointer;
    case TypeClass::array:
      return LayoutKind::array;
    case TypeClass::record:
      return LayoutKind::record;
    case TypeClass::enumeration:
      return LayoutKind::enumeration;
    default:
      return LayoutKind::unknown;
  }
}

// A tag that is not there is spelt as nothing, as dtrace does.
std::string spelt(const Type* type) {
  constexpr std::string_view kAnonymous = "(anon)";
  std::string name = type->name;
  if (name.ends_with(kAnonymous)) name.resize(name.size() - kAnonymous.size());
  return name;
}

// In the order of their places: members of anonymous members stand behind the others.
std::vector<Field> in_place(std::vector<Field> fields) {
  const auto place = [](const Field& field) { return field.offset * 8 + field.shift; };
  std::stable_sort(fields.begin(), fields.end(), [&](const Field& a, const Field& b) { return place(a) < place(b); });
  return fields;
}

class Describer {
 public:
  explicit Describer(Session& s) : s_(s) {}

  dif::ValueLayout run(const Type* type) {
    dif::LayoutNode value;
    add(std::move(value), type);
    return std::move(layout_);
  }

 private:
  void add(dif::LayoutNode node, const Type* type) {
    if (layout_.size() >= dif::kMostLayoutNodes || node.depth > dif::kMostLayoutDepth) return;
    const Type& t = resolve(*type);
    node.kind = kind_of(t), node.type = spelt(type), node.size = t.size, node.count = t.count, node.is_signed = t.is_signed;
    if (t.cls == TypeClass::enumeration) node.enumerators = enumerators_of(t);
    const uint32_t depth = node.depth + 1;
    layout_.push_back(std::move(node));
    if (t.cls == TypeClass::array) add_element(depth, t.target);
    if (t.cls == TypeClass::record) add_members(depth, t);
  }

  void add_element(uint32_t depth, const Type* type) {
    dif::LayoutNode element;
    element.depth = depth;
    add(std::move(element), type);
  }

  void add_members(uint32_t depth, const Type& record) {
    (void)record.find("");  // brings in the members of a type of the traced program
    for (const VirtualBase& base : record.virtual_bases) {
      dif::LayoutNode unknown;
      unknown.depth = depth, unknown.type = spelt(base.type), unknown.member = "(virtual base)";
      if (layout_.size() < dif::kMostLayoutNodes) layout_.push_back(std::move(unknown));
    }
    for (const Field& field : in_place(record.fields)) {
      dif::LayoutNode member;
      member.depth = depth, member.member = field.name, member.offset = field.offset;
      member.bits = field.bits, member.shift = field.shift;
      add(std::move(member), field.type);
      if (field.bits && layout_.back().depth == depth) layout_.back().size = field.storage;
    }
  }

  std::vector<std::pair<std::string, int64_t>> enumerators_of(const Type& t) const {
    return t.enumerators.empty() ? s_.target.enumerators(&t) : t.enumerators;
  }

  Session& s_;
  dif::ValueLayout layout_;
};

}  // namespace

dif::ValueLayout describe_layout(const Type* type, Session& session) { return Describer(session).run(type); }

}  // namespace dvm::compiler
