// Two connected queue pairs in one program: one of urnic0, one of urnic1, or of other devices. It is what
// lesson 1 does by hand.
//
// A call that fails ends the program with a message, unless it says otherwise.
#pragma once

#include <infiniband/verbs.h>
#include <stddef.h>

// One end of the connection.
struct end {
  struct ibv_context* device;
  struct ibv_pd* pd;
  struct ibv_comp_channel* channel;  // where the completion queue's events come
  struct ibv_cq* cq;                 // of both queues
  struct ibv_qp* qp;
  union ibv_gid gid;
};

struct pair_options {
  unsigned int send_slots;        // how many requests a send queue holds
  unsigned int receive_slots;     // how many receives a receive queue holds
  unsigned int completion_slots;  // how many completions a completion queue holds
  unsigned int inline_bytes;      // the most that a request can carry with IBV_SEND_INLINE
  int signal_all;                 // whether each request has a completion without asking for it
  int retries;                    // retry_cnt: how often requests are sent again without an answer, 0 to 7
  int rnr_retries;                // how often after an RNR NAK, 0 to 7; 7 stands for any number
  int timeout;                    // the answer is late after 4.096 us * 2^timeout
};

// 64 slots each, 64 bytes inline, a completion only where asked for, 7 retries, any number after an RNR NAK,
// 67 ms.
extern const struct pair_options pair_defaults;

// Opens both devices, makes the ends' objects, and connects the queue pairs.
void pair_open(struct end* first, struct end* second, const struct pair_options* options);
// The same between other devices than urnic0 and urnic1.
void pair_open_between(struct end* first, const char* first_device, struct end* second,
                       const char* second_device, const struct pair_options* options);
// Connects the queue pairs again, in whatever state they are: both queues are empty then.
void pair_connect(struct end* first, struct end* second, const struct pair_options* options);
// Another connection between the same two: the new ends have queue pairs of their own and share everything
// else with the first ones. If `receives` is not NULL, the second one's receives are taken from that shared
// receive queue.
void pair_add(const struct end* first, const struct end* second, struct end* new_first,
              struct end* new_second, struct ibv_srq* receives, const struct pair_options* options);
// Gives back what pair_add has made.
void pair_remove(struct end* new_first, struct end* new_second);
// Gives back all that pair_open has made. Memory regions must be gone.
void pair_close(struct end* first, struct end* second);

// A memory region of the end; `rights` are those of ibv_reg_mr.
struct ibv_mr* register_memory(const struct end* end, void* memory, size_t length, int rights);

// Waits for the next completion, whatever its status is.
struct ibv_wc next_completion(const struct end* end);

// Ends the program if `error`, a number of errno.h, is not 0.
void done(int error, const char* what);
// Ends the program if there is no object.
void made(const void* object, const char* what);
