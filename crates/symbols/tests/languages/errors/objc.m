int before(void) { return 1; }
@interface A
- (void)first;
@property int = ;
- (void;
- (void)second;
@end
@implementation A
- (void)first {
    if (1) {
}
- (void)second { }
@end
int after(void) { return 1; }
