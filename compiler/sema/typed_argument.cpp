// Arguments with the types of the traced program. Tests: tests/golden/sema (tst.target_types.d, err.D_ARGS_*.d),
// tests/runtime/types.
#include "compiler/sema/typed_argument.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/fold_constants.h"
#include "dvm/dif/variable.h"

namespace dvm::compiler {

namespace {

std::string spell(const dif::ProbeDesc& d) { return fmt::format("{}:{}:{}:{}", d.provider, d.module, d.function, d.name); }

// args[ ] of all probes of the clause, or a diagnostic.
class TypedArguments {
 public:
  TypedArguments(const Index& e, Session& s) : e_(e), s_(s) {}

  // The argument, the same for every probe. Null after a diagnostic.
  const dif::ArgumentDesc* at(size_t index, const Type*& type) {
    if (!collect()) return nullptr;
    if (signatures_.empty()) return out_of_range(index, 0);
    const dif::ArgumentDesc* first = nullptr;
    for (const std::vector<dif::ArgumentDesc>& signature : signatures_) {
      if (index >= signature.size()) return out_of_range(index, signature.size());
      const dif::ArgumentDesc& one = signature[index];
      const Type* of_one = type_of(one);
      if (first && (!same(*first, one) || &resolve(*type) != &resolve(*of_one))) return unstable(s_.probes.front());
      if (!first) first = &one, type = of_one;
    }
    if (first->problem.empty()) return first;
    return fail(Tag::D_ARGS_TYPE, fmt::format("failed to resolve native type for args[{}]: {}", index, first->problem));
  }

 private:
  const dif::ArgumentDesc* fail(Tag tag, std::string message, std::vector<std::string> hints = {}) {
    if (s_.is_new_lack(message)) s_.error(tag, e_.where, std::move(message), std::move(hints));
    return nullptr;
  }
  const dif::ArgumentDesc* unstable(const dif::ProbeDesc& probe) {
    return fail(
        Tag::D_ARGS_MULTI,
        fmt::format("args[ ] may not be referenced because probe description {} matches an unstable set of probes", spell(probe)),
        {"the probes have arguments of different types: write a description for each, or use arg0 to arg9"});
  }
  // False: with -Z, there is no such probe.
  bool is_matched() const {
    ProbeCatalog* catalog = s_.options.catalog;
    return catalog == nullptr || std::any_of(s_.probes.begin(), s_.probes.end(),
                                             [&](const dif::ProbeDesc& probe) { return catalog->match(probe).count != 0; });
  }
  const dif::ArgumentDesc* out_of_range(size_t index, size_t count) {
    const std::string hint = count != 0     ? fmt::format("the last is args[{}]", count - 1)
                             : is_matched() ? "the probe has no typed arguments"
                                            : "no probe matches the description, so the types of its arguments are not known";
    return fail(Tag::D_ARGS_IDX,
                fmt::format("index {} is out of range for {} args[ ]", static_cast<int64_t>(index), spell(s_.probes.front())),
                {hint});
  }

  const Type* type_of(const dif::ArgumentDesc& argument) {
    return argument.is_word ? s_.types.basic("uint64_t") : s_.target.import(argument.type);
  }
  static bool same(const dif::ArgumentDesc& a, const dif::ArgumentDesc& b) {
    return a.arg == b.arg && a.is_in_memory == b.is_in_memory && a.problem == b.problem && a.parts == b.parts;
  }

  bool collect() {
    if (s_.probes.empty()) return fail(Tag::D_ARGS_NONE, "args[ ] may not be referenced outside of a probe clause") != nullptr;
    if (!s_.options.types)
      return fail(Tag::D_ARGS_NONE, "args[ ] may not be referenced: there is no traced program to ask for their types",
                  {"name one with -p PID or -c COMMAND; arg0 to arg9 are the arguments as integers"}) != nullptr;
    for (const dif::ProbeDesc& probe : s_.probes) {
      ProbeArguments found = s_.options.types->arguments(probe);
      if (found.is_unstable) return unstable(probe) != nullptr;
      if (!found.problem.empty())
        return fail(Tag::D_ARGS_TYPE, fmt::format("failed to resolve native types for args[ ]: {}", found.problem),
                    {"arg0 to arg9 are the arguments as integers"}) != nullptr;
      for (auto& signature : found.signatures) signatures_.push_back(std::move(signature));
    }
    return true;
  }

  const Index& e_;
  Session& s_;
  std::vector<std::vector<dif::ArgumentDesc>> signatures_;
};

ExprPtr cast_to(ExprPtr value, const Type* type) {
  auto cast = std::make_unique<Cast>(value->where);
  cast->operand = std::move(value);
  cast->type = type;
  cast->is_user = is_pointer(type);
  return cast;
}

// A register as the type. Of a _Bool the program sets the lowest byte only.
ExprPtr register_as(ExprContext& c, ExprPtr word, const Type* type) {
  if (resolve(*type).is_bool) word = cast_to(std::move(word), c.types.basic("unsigned char"));
  return cast_to(std::move(word), type);
}

// A member, or the whole, out of the word that it lies in.
ExprPtr argument_word(ExprContext& c, const dif::ArgumentPart& part, uint64_t offset, const Type* type, Location where) {
  auto word = std::make_unique<Identifier>(where);
  word->name = fmt::format("arg{}", part.arg);
  word->symbol = c.symbols.find(dif::Scope::global, word->name);
  word->type = word->symbol->type;
  word->is_user = true;
  ExprPtr value = std::move(word);
  if (const uint64_t shift = part.shift + 8 * (offset - part.offset)) {
    auto shifted = std::make_unique<Binary>(where);
    shifted->op = Op::shift_right;
    shifted->type = value->type, shifted->is_user = true;
    shifted->left = std::move(value), shifted->right = make_integer(where, shift, c.types.basic("int"));
    value = std::move(shifted);
  }
  return register_as(c, std::move(value), type);
}

// A value at an offset of an argument that lies in several words; null: it lies in none.
ExprPtr assemble(ExprContext& c, const dif::ArgumentDesc& argument, uint64_t offset, const Type* type, Location where,
                 unsigned depth = 0) {
  constexpr unsigned kDeepest = 16;  // of structures inside structures
  if (!c.session.is_defined(type) || depth > kDeepest) return nullptr;
  const Type& resolved = resolve(*type);
  if (!is_record(type)) {
    const auto holds = [&](const dif::ArgumentPart& part) {
      return part.offset <= offset && offset + resolved.size <= part.offset + part.size;
    };
    const auto part = std::find_if(argument.parts.begin(), argument.parts.end(), holds);
    const bool has_value = is_scalar(type) && !is_array(type);
    return part != argument.parts.end() && has_value ? argument_word(c, *part, offset, type, where) : nullptr;
  }
  auto whole = std::make_unique<Translate>(where);
  whole->type = type;
  (void)resolved.find("");  // members are added when the first is asked for
  for (const Field& field : resolved.fields) {
    ExprPtr value = field.bits ? nullptr : assemble(c, argument, offset + field.offset, field.type, where, depth + 1);
    const auto* inner = as<Translate>(value.get());
    if (!value || (inner && !inner->problem.empty()))
      whole->problem = fmt::format("{} is not available as a whole: member {} is in none of its words", type->name, field.name);
    if (value) whole->members.push_back({&field, std::move(value)});
  }
  return whole;
}

}  // namespace

ExprPtr assembled_member(ExprContext& c, Member& e, Translate& from) {
  for (TranslatedMember& member : from.members)
    if (member.field->name == e.name) return std::move(member.value);
  if (resolve(*from.type).find(e.name))
    fail(c, e, Tag::D_ARGS_TYPE,
         fmt::format("member {} is not available: it is in a vector register, an array, or in none of arg0 to arg9", e.name));
  else
    fail(c, e, Tag::D_TYPE_MEMBER, fmt::format("{} is not a member of {}", e.name, from.type->name),
         member_hints(*from.type, e.name));
  return nullptr;
}

// args[N] becomes argN, or what lies at the address in it, as the type that it was declared with.
ExprPtr typed_argument(ExprContext& c, Index& e) {
  int64_t index = 0;
  if (e.arguments.size() != 1)
    return fail(c, e, Tag::D_PROTO_LEN,
                fmt::format("args[ ] prototype mismatch: {} args passed, 1 expected", e.arguments.size())),
           nullptr;
  if (!constant(*e.arguments[0], index))
    return fail(c, e, Tag::D_PROTO_ARG,
                fmt::format("args[ ] argument #1 is incompatible with prototype:\n\tprototype: integer constant\n\t argument: {}",
                            e.arguments[0]->type->name)),
           nullptr;
  TypedArguments list(e, c.session);
  const Type* type = nullptr;
  const dif::ArgumentDesc* argument = list.at(static_cast<size_t>(index), type);
  if (!argument) return fail(c, e), nullptr;
  if (!argument->parts.empty())
    if (ExprPtr value = assemble(c, *argument, 0, type, e.where)) return value;
  auto word = std::make_unique<Identifier>(e.where);
  word->name = fmt::format("arg{}", argument->arg);
  word->symbol = c.symbols.find(dif::Scope::global, word->name);
  word->type = argument->is_in_memory ? c.types.pointer_to(type) : word->symbol->type;
  word->is_user = true;
  if (argument->is_in_memory) {
    auto object = std::make_unique<Unary>(e.where);
    object->op = Op::dereference, object->operand = std::move(word);
    object->type = type, object->is_lvalue = object->is_user = true;
    return object;
  }
  if (argument->is_word) return word;
  return register_as(c, std::move(word), type);
}

}  // namespace dvm::compiler
