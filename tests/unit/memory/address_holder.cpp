// The program that a test's child executes: maps a page at the address given, as the program before the exec
// had done, and stays.
//
//   address_holder ADDRESS DESCRIPTOR     writes a byte to DESCRIPTOR when the page is there
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* wanted = reinterpret_cast<void*>(std::strtoull(argv[1], nullptr, 16));
  void* page =
      mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (page != wanted) return 3;
  std::memset(page, 'N', 4096);
  if (write(std::atoi(argv[2]), "r", 1) != 1) return 4;
  pause();
}
