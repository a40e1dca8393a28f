// Linked with bank.c by the checks, instead of orders.c: orders with other contents, and a ledger of what was
// carried out. When the program ends, the ledger is in the file that the environment variable LEDGER names: a
// line for each order that was carried out, with its number, or with "?" if it is no order.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orders.h"

static FILE* ledger;

// Of each order other entries, all different.
static uint32_t entry(int order, int i) { return (uint32_t)(order * 100003 + i * 17 + 5); }

void order_fill(int order, uint32_t entries[ENTRIES]) {
  for (int i = 0; i < ENTRIES; ++i) entries[i] = entry(order, i);
}

static int is_order(int order, const uint32_t entries[ENTRIES]) {
  for (int i = 0; i < ENTRIES; ++i) {
    if (entries[i] != entry(order, i)) return 0;
  }
  return 1;
}

void order_carry_out(const uint32_t entries[ENTRIES]) {
  if (ledger == NULL) ledger = fopen(getenv("LEDGER"), "w");
  if (ledger == NULL) {
    perror("the ledger");
    exit(EXIT_FAILURE);
  }
  int order = 0;
  while (order < ORDERS && !is_order(order, entries)) ++order;
  if (order < ORDERS) {
    fprintf(ledger, "%d\n", order);
  } else {
    fprintf(ledger, "?\n");
  }
  fflush(ledger);
}

uint64_t orders_total(void) { return 0; }
