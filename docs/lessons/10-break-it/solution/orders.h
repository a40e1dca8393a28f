// What the teller orders, and what the bank does with an order.
#pragma once

#include <stdint.h>

enum { ORDERS = 20, ENTRIES = 400 };

// The entries of the order of that number, from 0.
void order_fill(int order, uint32_t entries[ENTRIES]);
// The bank books the entries.
void order_carry_out(const uint32_t entries[ENTRIES]);
// The sum of all that was booked.
uint64_t orders_total(void);
