# Build. target: commented
CC = gcc # all: x
CC ?= cc
CFLAGS += -O2
export PATH := /bin:/usr/bin
override LDFLAGS::=-l
HASH = \# \
  continued = no
obj-$(CONFIG_X) := a.o
NOW != date
spaced name = no

define rule
inner: $(1)
	echo
define nested =
endef
endef

override define flags :=
-x
endef

all: build/main.o lib(member.o)
	echo hi: there
	X = 1 \
	  y = 2
# between

	echo end
a b \
 c: d ; echo x=1
%.o: %.c
	$(CC) $< -o $@
$(objects): %.o: %.c
.PHONY: all clean
.c.o:
$(obj)/x $(patsubst %.c,%.o,$(wildcard *.c)): y
clean::
	rm -f *.o
debug: CFLAGS = -g
debug: private CFLAGS += -g
debug: all
one two &: three
ifeq ($(A),b:c)
Q = @
else
Q :=
endif
ifdef A
endif
names := $(y:.c=.o)
include a:b
-include other.mk
vpath %.c a:b
undefine names
export CC
$(call rule,a:b)
	TAB = assigned
