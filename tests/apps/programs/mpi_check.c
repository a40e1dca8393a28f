// Checks what MPI moves: ping-pong, allreduce, all-to-all, put, get and fetch-and-op, up to LARGEST bytes.
//
// Usage: mpirun -n N mpi_check [LARGEST]    (default and most: 16 MiB; N is even)
// Each rank compares every byte that it gets with what the sender must have sent, and says which one is
// wrong.
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;
static int ranks;
static const size_t largest_allowed = (size_t)16 << 20;

// Different for each sender, receiver and round.
static uint64_t word_of(int from, int to, unsigned round, size_t index) {
  const uint64_t mixed = (index + 1) * 0x9E3779B97F4A7C15u + (uint64_t)from * 0xBF58476D1CE4E5B9u +
                         (uint64_t)to * 0x94D049BB133111EBu + round;
  return mixed ^ (mixed >> 29);
}

static void fill(uint64_t* words, size_t count, int from, int to, unsigned round) {
  for (size_t i = 0; i < count; ++i) words[i] = word_of(from, to, round, i);
}

static void fail(const char* what, size_t count, size_t index) {
  printf("rank %d: %s of %zu bytes: word %zu is wrong\n", rank, what, count * 8, index);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(const uint64_t* words, size_t count, int from, int to, unsigned round, const char* what) {
  for (size_t i = 0; i < count; ++i)
    if (words[i] != word_of(from, to, round, i)) fail(what, count, i);
}

static uint64_t* allocate(size_t words) {
  uint64_t* memory = malloc(words * 8);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 2);
  memset(memory, 0, words * 8);
  return memory;
}

// Even ranks play with the next one.
static void ping_pong(uint64_t* out, uint64_t* in, size_t count) {
  const int peer = rank ^ 1;
  for (unsigned round = 0; round < 4; ++round) {
    fill(out, count, rank, peer, round);
    if (rank % 2 == 0) MPI_Send(out, (int)count, MPI_UINT64_T, peer, 7, MPI_COMM_WORLD);
    MPI_Recv(in, (int)count, MPI_UINT64_T, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(in, count, peer, rank, round, "ping-pong");
    if (rank % 2 != 0) MPI_Send(out, (int)count, MPI_UINT64_T, peer, 7, MPI_COMM_WORLD);
  }
}

static void allreduce(uint64_t* out, uint64_t* in, size_t count) {
  fill(out, count, rank, 0, 1);
  MPI_Allreduce(out, in, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (size_t i = 0; i < count; ++i) {
    uint64_t sum = 0;
    for (int from = 0; from < ranks; ++from) sum += word_of(from, 0, 1, i);
    if (in[i] != sum) fail("allreduce", count, i);
  }
}

// `count` words in all, an equal part for each rank.
static void all_to_all(uint64_t* out, uint64_t* in, size_t count) {
  const size_t part = count / (size_t)ranks;
  if (part == 0) return;
  for (int to = 0; to < ranks; ++to) fill(out + (size_t)to * part, part, rank, to, 2);
  MPI_Alltoall(out, (int)part, MPI_UINT64_T, in, (int)part, MPI_UINT64_T, MPI_COMM_WORLD);
  for (int from = 0; from < ranks; ++from) check(in + (size_t)from * part, part, from, rank, 2, "all-to-all");
}

// Each rank writes the window of the next one.
static void put(MPI_Win window, uint64_t* exposed, uint64_t* out, size_t count) {
  const int to = (rank + 1) % ranks;
  const int from = (rank + ranks - 1) % ranks;
  fill(out, count, rank, to, 3);
  MPI_Win_fence(0, window);
  MPI_Put(out, (int)count, MPI_UINT64_T, to, 0, (int)count, MPI_UINT64_T, window);
  MPI_Win_fence(0, window);
  check(exposed, count, from, rank, 3, "put");
}

// Each rank reads the window of the next one.
static void get(MPI_Win window, uint64_t* exposed, uint64_t* in, size_t count) {
  const int from = (rank + 1) % ranks;
  fill(exposed, count, rank, rank, 4);
  MPI_Win_fence(0, window);
  MPI_Get(in, (int)count, MPI_UINT64_T, from, 0, (int)count, MPI_UINT64_T, window);
  MPI_Win_fence(0, window);
  check(in, count, from, from, 4, "get");
}

// All ranks take numbers of one counter: each number is taken once.
static void fetch_and_op(MPI_Win window, uint64_t* exposed) {
  enum { takes = 200 };
  bool* taken = calloc((size_t)ranks * takes, sizeof *taken);
  bool* all = calloc((size_t)ranks * takes, sizeof *all);
  const uint64_t one = 1;
  exposed[0] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < takes; ++i) {
    uint64_t number = UINT64_MAX;
    MPI_Fetch_and_op(&one, &number, MPI_UINT64_T, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    if (number >= (uint64_t)ranks * takes || taken[number]) fail("fetch-and-op", 1, (size_t)number);
    taken[number] = true;
  }
  MPI_Win_unlock_all(window);
  MPI_Allreduce(taken, all, ranks * takes, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * takes; ++i)
    if (!all[i]) fail("fetch-and-op", 1, (size_t)i);
  free(taken);
  free(all);
}

int main(int count_of_arguments, char** arguments) {
  MPI_Init(&count_of_arguments, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t wanted = count_of_arguments > 1 ? strtoull(arguments[1], NULL, 0) : largest_allowed;
  const size_t largest = wanted < largest_allowed ? wanted : largest_allowed;
  uint64_t* out = allocate(largest / 8);
  uint64_t* in = allocate(largest / 8);
  uint64_t* exposed = NULL;
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)largest, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window);
  for (size_t bytes = 8; bytes <= largest; bytes *= 4) {
    ping_pong(out, in, bytes / 8);
    allreduce(out, in, bytes / 8);
    all_to_all(out, in, bytes / 8);
    put(window, exposed, out, bytes / 8);
    get(window, exposed, in, bytes / 8);
    // 8 bytes times powers of 4 pass 16 MiB by half: take it, too.
    if (bytes < largest && bytes * 4 > largest) bytes = largest / 4;
  }
  fetch_and_op(window, exposed);
  MPI_Win_free(&window);
  free(in);
  free(out);
  if (rank == 0) printf("%d ranks: all data was right, up to %zu bytes\n", ranks, largest);
  MPI_Finalize();
  return 0;
}
