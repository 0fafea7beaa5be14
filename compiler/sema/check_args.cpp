// args[N]. Tests: tests/golden/sema (tst.provider.d, err.D_ARGS_*.d), tests/golden/lower (tst.args.d).
#include "compiler/sema/check_args.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/compatible.h"
#include "compiler/sema/declared_probes.h"
#include "compiler/sema/translate.h"
#include "compiler/sema/typed_argument.h"
#include "dvm/dif/variable.h"

namespace dvm::compiler {

namespace {

std::string spell(const dif::ProbeDesc& d) { return fmt::format("{}:{}:{}:{}", d.provider, d.module, d.function, d.name); }

bool agree(const DeclaredProbe& a, const DeclaredProbe& b) {
  const auto same = [](const ProbeArgument& x, const ProbeArgument& y) {
    return &resolve(*x.type) == &resolve(*y.type) && x.from == y.from;
  };
  return std::equal(a.translated.begin(), a.translated.end(), b.translated.begin(), b.translated.end(), same) &&
         std::equal(a.native.begin(), a.native.end(), b.native.begin(), b.native.end(), same);
}

constexpr size_t kRawArguments = 10;  // arg0 to arg9

ExprPtr checked_cast(ExprContext& c, ExprPtr value, const Type* type) {
  ExprPtr cast = std::make_unique<Cast>(value->where);
  static_cast<Cast&>(*cast).operand = std::move(value);
  cast->type = type;
  check(c, cast);
  return cast;
}

// argN as the program passed it: a string by its address.
ExprPtr raw_argument(ExprContext& c, size_t number, const Type* type, Location where) {
  auto name = std::make_unique<Identifier>(where);
  name->name = fmt::format("arg{}", number);
  return checked_cast(c, std::move(name), is_string(type) ? c.types.pointer_to(c.types.basic("char")) : type);
}

// The declaration that describes all probes of the clause; null after a diagnostic.
const DeclaredProbe* declared_probe(ExprContext& c, Index& e) {
  const DeclaredProbe* first = nullptr;
  for (const dif::ProbeDesc& description : c.session.probes) {
    const std::vector<const DeclaredProbe*> found = declared_probes(description, c.session);
    if (found.empty()) {
      fail_once(c, e, Tag::D_ARGS_NONE,
                fmt::format("args[ ] may not be referenced because the arguments of {} have no types", spell(description)),
                {"arg0 to arg9 are the arguments as integers", "provider NAME { probe NAME(int, char *); }; declares types"});
      return nullptr;
    }
    if (!first) first = found[0];
    if (std::all_of(found.begin(), found.end(), [&](const DeclaredProbe* p) { return agree(*p, *first); })) continue;
    fail_once(
        c, e, Tag::D_ARGS_MULTI,
        fmt::format("args[ ] may not be referenced because {} matches probes with different arguments", spell(description)));
    return nullptr;
  }
  return first;
}

// A float or double by the bits of its argument, which a cast in a script would take for an integer.
ExprPtr floating_argument(ExprContext& c, size_t number, const Type* type, Location where) {
  auto bits = std::make_unique<Cast>(where);
  bits->operand = raw_argument(c, number, c.types.basic("uint64_t"), where);
  bits->type = type;
  return bits;
}

void refuse_long_double(ExprContext& c, Index& e, size_t number) {
  fail_once(c, e, Tag::D_ARGS_TYPE,
            fmt::format("argument {} of the probe is not available: a long double fits into no register", number));
}

}  // namespace

// The argument as the program passed it, then as the declaration has it.
ExprPtr index_args(ExprContext& c, Index& e) {
  if (!c.session.has_probes) return fail(c, e), nullptr;
  const auto is_declared = [&](const dif::ProbeDesc& d) { return !declared_probes(d, c.session).empty(); };
  c.session.program_providers.problem.clear();
  if (std::none_of(c.session.probes.begin(), c.session.probes.end(), is_declared)) {
    const std::string& problem = c.session.program_providers.problem;
    if (problem.empty()) return typed_argument(c, e);  // of the traced program
    fail_once(c, e, Tag::D_ARGS_TYPE, fmt::format("failed to resolve native types for args[ ]: {}", problem),
              {"arg0 to arg9 are the arguments as integers"});
    return nullptr;
  }
  int64_t number = 0;
  if (e.arguments.size() != 1 || !constant(*e.arguments[0], number)) {
    fail(c, e, Tag::D_ARGS_TYPE, "args[ ] index must be scalar constant");
    return nullptr;
  }
  const DeclaredProbe* probe = declared_probe(c, e);
  if (!probe) return nullptr;
  if (number < 0 || static_cast<size_t>(number) >= probe->translated.size()) {
    fail_once(c, e, Tag::D_ARGS_IDX, fmt::format("index {} is out of range for {} args[ ]", number, spell(c.session.probes[0])),
              {fmt::format("the probe has {} argument{}", probe->translated.size(), probe->translated.size() == 1 ? "" : "s")});
    return nullptr;
  }
  const ProbeArgument& argument = probe->translated[static_cast<size_t>(number)];
  if (argument.from >= kRawArguments) {
    fail_once(c, e, Tag::D_ARGS_IDX,
              fmt::format("args[{}] is not available in dvm: it captures only the first {} arguments", number, kRawArguments));
    return nullptr;
  }
  const Type* native = probe->native[argument.from].type;
  if (is_floating(native) && is_by_reference(native)) return refuse_long_double(c, e, argument.from), nullptr;
  if (is_floating(native) && &resolve(*native) == &resolve(*argument.type))
    return floating_argument(c, argument.from, native, e.where);
  ExprPtr value = raw_argument(c, argument.from, native, e.where);
  if (!can_translate(c, argument.type, *value) || is_compatible(argument.type, *value))
    return checked_cast(c, std::move(value), argument.type);
  auto translate = std::make_unique<Translate>(e.where);
  translate->type = argument.type;
  translate->operand = std::move(value);
  check(c, *translate);
  return translate;
}

}  // namespace dvm::compiler
