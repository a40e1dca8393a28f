// Socket options of linux/udp.h, which does not go with netinet/udp.h.
#pragma once

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
