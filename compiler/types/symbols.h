#pragma once
// The symbols of all programs of one compile(). Each scope has its own names: x, self->x and this->x are three variables.

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/types/type.h"
#include "dvm/dif/program.h"
#include "dvm/dif/stability.h"

namespace dvm::compiler {

class SourceFile;
struct Expr;

enum class SymbolKind : uint8_t { built_in, variable, constant, inline_, parameter };

struct InlineParameter {
  std::string name;
  const Type* type = nullptr;
};

struct Symbol {
  SymbolKind kind = SymbolKind::variable;
  std::string name;
  const Type* type = nullptr;
  uint16_t id = 0;  // of a variable, built-in or not
  dif::Scope scope = dif::Scope::global;
  bool is_array = false;                    // of a variable or built-in: indexed
  std::vector<const Type*> keys;            // of an associative array
  uint64_t value = 0;                       // of a constant
  const Expr* body = nullptr;               // of an inline; the AST outlives the symbols
  std::vector<InlineParameter> parameters;  // of an inline
  bool has_parameters = false;

  bool is_expanding = false;  // an inline that its own body names
  bool is_temporary = false;  // of one expression; not read afterwards

  bool holds_scratch = false;        // some statement makes it point to scratch
  bool leads_elsewhere = false;      // some statement makes it point to other memory
  const SourceFile* file = nullptr;  // where it is declared; null: in no file
  dif::Attributes attributes;
  uint32_t version = 0;  // of D that brought it
};

struct AggregationSymbol {
  dif::AggregationDesc desc;
  std::vector<const Type*> keys;
  unsigned line = 0;
  std::string file;
};

class Symbols {
 public:
  Symbol* find(dif::Scope scope, std::string_view name);
  Symbol& add(Symbol symbol);  // its scope and name must be free
  Symbol& add_variable(dif::Scope scope, const std::string& name, const Type* type);
  bool full(dif::Scope scope) const { return next_id_[static_cast<unsigned>(scope)] > 0xffff; }
  std::vector<std::string_view> names(dif::Scope scope) const;
  // The file of the following declarations.
  void set_file(const SourceFile* file) { file_ = file; }
  // Hides names that later versions of D brought.
  void set_version(uint32_t version) { version_ = version; }

  AggregationSymbol* find_aggregation(std::string_view name);
  AggregationSymbol& add_aggregation(AggregationSymbol aggregation);
  const std::deque<AggregationSymbol>& all_aggregations() const { return aggregations_; }

  // The type that "extern" gives to an object or function outside of D. Null until it is declared.
  const Type*& external(const std::string& name) { return externals_[name]; }

  std::vector<dif::Variable> variables() const;
  std::vector<dif::AggregationDesc> aggregations() const;

 private:
  std::deque<Symbol> symbols_;
  std::map<std::string, Symbol*, std::less<>> by_name_[3];
  const SourceFile* file_ = nullptr;
  uint32_t version_ = dif::kNewestVersion;
  unsigned next_id_[3] = {0x500, 0x500, 0x500};
  std::deque<AggregationSymbol> aggregations_;
  std::map<std::string, const Type*, std::less<>> externals_;
};

dif::Variable describe(const Symbol& variable);

// "", "self->" or "this->".
std::string_view prefix(dif::Scope scope);

}  // namespace dvm::compiler
