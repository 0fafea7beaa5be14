// Classes, references and enumerations of C++, as arguments.
#include <cstdio>
#include <cstring>

namespace zoo {

enum class Diet : unsigned char { plants = 1, meat = 2 };

class Animal {
 public:
  explicit Animal(int legs) : legs_(legs) {}
  virtual ~Animal() = default;
  int legs() const { return legs_; }
  static int born;

 protected:
  int legs_;
};
int Animal::born = 3;
short oldest = -12;
static long fed = 70000;

struct Named {
  const char* name = "";
  long id = 0;
};

class Cat : public Animal, public Named {
 public:
  Cat(const char* called, Diet eats) : Animal(4), diet(eats) { name = called, id = 17; }
  [[gnu::noinline]] int feed(const Named& keeper, Diet with, bool gladly);
  Diet diet;
  Cat* friend_of = nullptr;
  wchar_t initials[3] = L"TC";
};

int Cat::feed(const Named& keeper, Diet with, bool gladly) {
  __asm__ volatile("" : : "r"(&fed) : "memory");
  return keeper.id + static_cast<int>(with) + legs() + gladly;
}

namespace aquarium {
typedef signed char small_t;
enum class Level : small_t { low = -3 };
enum Depth { shallow = 7, deep };
struct Named {
  int tank = 12;
  Depth depth = deep;
};
struct Fish : Named {
  int fins = 6;
};
Fish nemo;
Level level = Level::low;

template <class Guest, int places>
struct Pool {
  struct Gate {
    int width = 5;
  };
  Guest guests[places];
  Gate gate;
};
Pool<Fish, 2> pool;
}  // namespace aquarium

// Its copy is no copy of its bytes, so it is passed by its address.
[[gnu::noinline]] int weigh(Cat guest, int stones) { return guest.legs() * stones; }

}  // namespace zoo

int main() {
  char tom_name[] = "Tom", keeper_name[] = "Kim";
  zoo::Cat tom(tom_name, zoo::Diet::meat), other("Max", zoo::Diet::plants);
  tom.friend_of = &other;
  zoo::Named keeper{keeper_name, 500};
  std::printf("%s %d legs, diet %d, friend %s; keeper %s %ld\n", tom.name, tom.legs(), static_cast<int>(tom.diet),
              tom.friend_of->name, keeper.name, keeper.id);
  std::fflush(stdout);
  int sum = tom.feed(keeper, zoo::Diet::meat, true) + zoo::weigh(tom, 0);
  std::memset(tom_name, 'x', 3), std::memset(keeper_name, 'x', 3);
  return sum + zoo::Animal::born == 510 ? 0 : 1;
}
