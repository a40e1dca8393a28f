#include "orders.h"

static uint64_t total;

void order_fill(int order, uint32_t entries[ENTRIES]) {
  for (int i = 0; i < ENTRIES; ++i) entries[i] = (uint32_t)(order + 1);
}

void order_carry_out(const uint32_t entries[ENTRIES]) {
  for (int i = 0; i < ENTRIES; ++i) total += entries[i];
}

uint64_t orders_total(void) { return total; }
