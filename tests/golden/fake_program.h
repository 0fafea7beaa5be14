#pragma once
// A traced program for scripts that say @program: the contents of tests/programs/types.c, described by hand.
//
//   struct node { long value; char *name; struct node *next; char tag[8]; enum color color; unsigned low : 3;
//                 struct opaque *hidden; struct { short x, y; }; };
//   enum color { RED, GREEN = 7 };            typedef struct node node_t, index_t;
//   int counter;  struct node first;  int table[4];  and bare, without a type. Only here: int color[4], as a type is called
//   visit(struct node *, int, double, char)   returns struct node *;   find(char *, enum color);   lost has no debug information

#include <algorithm>
#include <iterator>
#include <map>

#include "dvm/compiler/type_catalog.h"

namespace dvm::compiler {

class FakeProgram final : public TypeCatalog {
 public:
  FakeProgram() {
    using dif::DescribedAs;
    add(kLong, DescribedAs::integer, "long int", 8, true);
    add(kInt, DescribedAs::integer, "int", 4, true);
    add(kUnsigned, DescribedAs::integer, "unsigned int", 4, false);
    add(kShort, DescribedAs::integer, "short int", 2, true);
    add(kChar, DescribedAs::integer, "char", 1, true).is_char = true;
    add(kDouble, DescribedAs::floating, "double", 8, true);
    add(kString, DescribedAs::pointer, "", 8, false).target = kChar;
    add(kNode, DescribedAs::structure, "node", 56, false);
    add(kNodePointer, DescribedAs::pointer, "", 8, false).target = kNode;
    add(kTag, DescribedAs::array, "", 0, false).target = kChar;
    types_[kTag].counts = {8};
    add(kColor, DescribedAs::enumeration, "color", 4, false);
    add(kOpaque, DescribedAs::structure, "opaque", 0, false).is_complete = false;
    add(kOpaquePointer, DescribedAs::pointer, "", 8, false).target = kOpaque;
    add(kPlace, DescribedAs::structure, "", 4, false);
    add(kAlias, DescribedAs::alias, "node_t", 0, false).target = kNode;
    add(kIndex, DescribedAs::alias, "index_t", 0, false).target = kNode;  // illumos has another type of this name
    add(kTable, DescribedAs::array, "", 0, false).target = kInt;
    types_[kTable].counts = {4};
  }

  Result<dif::TypeRef> find_type(const std::string& module, dif::DescribedAs as, const std::string& name) override {
    if (!module.empty() && module != "a.out") return Error{"the process has no module '" + module + "'"};
    for (const auto& [ref, desc] : types_)
      if (desc.name == name && (desc.as == as || as == dif::DescribedAs::alias)) return ref;
    return Error{"it is not in the debug information of program"};
  }
  Result<dif::ConstantDesc> find_constant(const std::string&, const std::string& name) override {
    if (name == "GREEN") return dif::ConstantDesc{kColor, 7};
    return Error{"it is not in the debug information of program"};
  }
  Result<dif::DataDesc> find_data(const std::string& module, const std::string& name) override {
    static const std::map<std::string, dif::DataDesc> kData = {{"counter", {"program", 0x4000, true, kInt}},
                                                               {"first", {"program", 0x4100, true, kNode}},
                                                               {"table", {"program", 0x4200, true, kTable}},
                                                               {"color", {"program", 0x4280, true, kTable}},
                                                               {"bare", {"program", 0x4300, false, 0}}};
    if (!module.empty() && module != "a.out") return Error{"the process has no module '" + module + "'"};
    const auto found = kData.find(name);
    if (found == kData.end()) return Error{"Unknown symbol name"};
    return found->second;
  }
  std::vector<std::string> similar_data(const std::string&, const std::string& name) override {
    return name == "countr" ? std::vector<std::string>{"counter"} : std::vector<std::string>{};
  }
  dif::TypeDesc describe(dif::TypeRef type) override { return types_[type]; }
  std::vector<dif::EnumeratorDesc> enumerators(dif::TypeRef type) override {
    if (type != kColor) return {};
    return {{"RED", 0}, {"GREEN", 7}};
  }
  std::vector<dif::MemberDesc> members(dif::TypeRef type) override {
    if (type == kPlace) return {member("x", kShort, 0), member("y", kShort, 2)};
    if (type != kNode) return {};
    return {member("value", kLong, 0),
            member("name", kString, 8),
            member("next", kNodePointer, 16),
            member("tag", kTag, 24),
            member("color", kColor, 32),
            {"low", kUnsigned, 36, 3, 2, 1, false},
            member("hidden", kOpaquePointer, 40),
            member("", kPlace, 48)};
  }
  ProbeArguments arguments(const dif::ProbeDesc& probe) override {
    const std::vector<dif::ArgumentDesc> visit = {argument("node", kNodePointer, 0),
                                                  argument("depth", kInt, 1),
                                                  {"factor", kDouble, 0, false, false, "it is passed in a vector register"},
                                                  argument("small", kChar, 2)};
    const std::vector<dif::ArgumentDesc> find = {argument("name", kString, 0), argument("color", kColor, 1)};
    ProbeArguments found;
    if (probe.function == "lost") found.problem = "program: it has no debug information";
    if (probe.function == "visit" && probe.name == "return")
      found.signatures = {{{"", 0, 0, true, false, ""}, argument("", kNodePointer, 1)}};
    else if (probe.function == "visit")
      found.signatures = {visit};
    else if (probe.function == "find")
      found.signatures = {find};
    else if (probe.function == "*")
      found.signatures = {visit, find};
    else if (probe.provider == "tick" || probe.name == "BEGIN")
      found.signatures = {{}};
    return found;
  }
  std::vector<std::string> declarations(const dif::ProbeDesc& probe) override {
    if (probe.provider == "shop1")
      return {
          "provider shop { probe sold__item(int a0, struct node * a1, string a2, `node_t * a3); probe other(`nosuch_t * a0); };"};
    if (probe.provider == "bad1") return {"provider bad { probe sold(`nosuch_t a0); };"};
    if (probe.provider == "hostile1") return {"#pragma D option destructive\ninline int pid = 0; BEGIN { x = 1; }"};
    return {};
  }

 private:
  enum : dif::TypeRef {
    kLong = 1,
    kInt,
    kUnsigned,
    kShort,
    kChar,
    kDouble,
    kString,
    kNode,
    kNodePointer,
    kTag,
    kColor,
    kOpaque,
    kOpaquePointer,
    kPlace,
    kAlias,
    kIndex,
    kTable
  };

  dif::TypeDesc& add(dif::TypeRef ref, dif::DescribedAs as, std::string name, uint64_t size, bool is_signed) {
    dif::TypeDesc& desc = types_[ref];
    desc.as = as, desc.name = std::move(name), desc.size = size, desc.is_signed = is_signed;
    return desc;
  }
  static dif::MemberDesc member(std::string name, dif::TypeRef type, uint64_t offset) {
    dif::MemberDesc m;
    m.name = std::move(name), m.type = type, m.offset = offset;
    return m;
  }
  static dif::ArgumentDesc argument(std::string name, dif::TypeRef type, unsigned arg) {
    dif::ArgumentDesc a;
    a.name = std::move(name), a.type = type, a.arg = arg;
    return a;
  }

  std::map<dif::TypeRef, dif::TypeDesc> types_;
};

}  // namespace dvm::compiler
