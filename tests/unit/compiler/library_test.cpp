// The D libraries that are read, and their order.

#include "compiler/source/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/source/words.h"

namespace dvm::compiler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class LibraryOrderTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& text, bool if_named = false) {
    libraries_.push_back({{"/lib/" + name, text, false}, if_named});
  }

  std::vector<std::string> order(const std::string& program = "BEGIN", const std::vector<std::string>& arguments = {}) {
    const std::vector<Source> programs = {{"script.d", program, false}};
    const LibraryOrder found = order_libraries(libraries_, programs, arguments, [](std::string_view kind, std::string_view name) {
      return kind == "provider" && name == "pid";
    });
    cycle_ = names(found.cycle);
    return names(found.libraries);
  }

  static std::vector<std::string> names(const std::vector<const Source*>& sources) {
    std::vector<std::string> list;
    for (const Source* source : sources) list.push_back(source->name.substr(5));
    return list;
  }

  std::vector<Library> libraries_;
  std::vector<std::string> cycle_;
};

TEST_F(LibraryOrderTest, DependenciesComeFirst) {
  add("a.d", "#pragma D depends_on library c.d\n#pragma D depends_on library b.d\n");
  add("b.d", "#pragma D depends_on library c.d\n");
  add("c.d", "");
  EXPECT_THAT(order(), ElementsAre("c.d", "b.d", "a.d"));
}

TEST_F(LibraryOrderTest, WhatIsNotThereTakesItsDependentsWithIt) {
  add("a.d", "#pragma D depends_on provider pid\n");
  add("b.d", "#pragma D depends_on provider io\n");
  add("c.d", "#pragma D depends_on library b.d\n");
  add("d.d", "#pragma D depends_on library nosuch.d\n");
  add("e.d", "#pragma D depends_on module vmunix\n");
  EXPECT_THAT(order(), ElementsAre("a.d"));
  EXPECT_THAT(cycle_, IsEmpty());
}

TEST_F(LibraryOrderTest, CyclesAreFound) {
  add("z.d", "#pragma D depends_on library a.d\n");
  add("a.d", "#pragma D depends_on library b.d\n");
  add("b.d", "#pragma D depends_on library a.d\n");
  order();
  EXPECT_THAT(cycle_, ElementsAre("a.d", "b.d", "a.d"));
}

TEST_F(LibraryOrderTest, TheFirstOfANameCounts) {
  add("a.d", "inline int x = 1;");
  libraries_.push_back({{"/own/a.d", "inline int x = 2;", false}, false});
  EXPECT_THAT(order(), ElementsAre("a.d"));
}

TEST_F(LibraryOrderTest, SomeAreReadOnlyWhenNamed) {
  add("errno.d", "inline int EPERM = 1;", true);
  add("state.d", "enum state { IDLE, BUSY = EPERM };", true);
  add("proc.d", "#pragma D depends_on library errno.d\ntypedef struct { int hidden; } info_t;", true);
  add("io.d", "provider io { probe start(int); };", true);
  add("set.d", "#pragma D option quiet\n", true);
  EXPECT_THAT(order("BEGIN { trace(pid); x = hidden; }"), ElementsAre("set.d"));
  EXPECT_THAT(order("BEGIN { trace(EPERM); }"), ElementsAre("errno.d", "state.d", "set.d")) << "state.d names it too";
  EXPECT_THAT(order("BEGIN { trace(BUSY); }"), UnorderedElementsAre("errno.d", "state.d", "set.d"));
  EXPECT_THAT(order("BEGIN { this->i = (info_t *)0; }"), UnorderedElementsAre("errno.d", "state.d", "proc.d", "set.d"));
  EXPECT_THAT(order("io:::start { trace(args[0]); }"), ElementsAre("io.d", "set.d"));
  EXPECT_THAT(order("BEGIN { trace($1); }", {"x.d", "EPERM"}), ElementsAre("errno.d", "state.d", "set.d"));
}

TEST(Words, AreThoseOutsideCommentsStringsAndDirectives) {
  std::vector<std::string> found;
  for_each_word(
      "#define a b\n one /* two */ \"three \\\" four\" 'f' 5six { seven enum e { eight } } nine\n # ten",
      [&](const ScannedWord& w) { found.push_back(std::string(w.text) + std::to_string(w.depth) + (w.in_enum ? "!" : "")); });
  EXPECT_THAT(found, ElementsAre("one0", "seven1", "enum1", "e1", "eight2!", "nine0"));
}

TEST(Words, EndWhereTheTextEnds) {
  for (const char* text : {"/* open", "\"open", "'\\", "# x", "}", "{", "\"\\"}) {
    unsigned words = 0;
    for_each_word(text, [&](const ScannedWord&) { words++; });
    EXPECT_EQ(words, 0u) << text;
  }
}

}  // namespace
}  // namespace dvm::compiler
