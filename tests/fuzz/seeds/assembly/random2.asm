.array 19 3
.input "°3½S" shape=235 scale=2.688557286012746 zero_point=429376636
.input x shape=1x290x221 scale=0.37814814037346406 zero_point=-117112770 signed
.output "“™ÿ\x00J" shape=749x151x851 scale=1.1316668923539992 zero_point=475984451
.output signed shape=1000 scale=2.8990635298367144 zero_point=1379151063
.host_operation "Aã”2\x0e" "l\x00,\x00Ia\x05-Ð\x0bÿë"
.buffer "×Àþmÿ\x00†X&\x14\x002" constant 0x12dd 42
  .data fc4c3ba9009309ff833abaadb909ff94dd384c7aff543bed00c8ff4bbc450000
  .data cbedc20032c4bfed1a0b
.buffer "í®\x1dç¸{ÿ8\x00z1" constant 0x18059 76 fill 77

convolve ub=11499767 acc=58200 lines=55809 line=30521 accumulate keep
nop
nop
halt
interrupt
write_host 0xc25cdb896b ub=10432657 block=4294967295 count=36748
vector max_pool dst=4381790 src=12056510 lines=121799604 line=3456728717
nop
vector add dst=10922258 src=16317006 rows=3696566816 other=12591898
activate ub=11556419 acc=950 rows=23539 first=1473529036 lookup
sync.wait weights sem=48
write_host 0xffffffffff ub=15350167 block=4294967295 count=15800
tag 0
vector max_pool dst=16777215 src=4352611 lines=4288125464 line=3417495751 signed
nop
matmul ub=4406766 acc=40436 rows=894903480 repeat=56 wide_w
write_host 0x309cbef3b1 ub=4158118 block=81455926 count=57904
nop
vector add dst=16777215 src=8379858 rows=1422161530 other=838075 signed
nop
sync.signal activation sem=63
read_host 0x18076 ub=14549949 block=345397800 count=65535
halt
write_host 0xa1d576e04 ub=1063238 block=155723453 count=6624
interrupt
tag 9591
sync.signal weights sem=10
sync.signal activation sem=0
vector multiply dst=0 src=2146877 rows=1 other=16777215
convolve ub=0 acc=53654 lines=30802 line=18348 wide_w
vector average_pool dst=3612368 src=5378405 lines=2894337839 signed count_padding
sync.wait matrix sem=85
vector max_pool dst=15596847 src=4820065 lines=2027857165 line=2497016423 signed count_padding
vector add dst=16777215 src=8471640 rows=1577354150 other=16530800 signed
convolve ub=0 acc=0 lines=65535 line=11116 accumulate keep wide_a wide_w
halt
set output.maximum -1
