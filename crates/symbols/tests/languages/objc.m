// @interface Commented
#import <Foundation/Foundation.h>
#define LIMIT 10

@class Forward, Other;
@protocol Declared, AlsoDeclared;
@import UIKit;

NS_ASSUME_NONNULL_BEGIN

typedef void (^Handler)(NSString *text, int count);
typedef struct { int x; } Point;
typedef NS_ENUM(NSInteger, Status) {
    StatusOff = -1,
    StatusOn,
};
NS_OPTIONS(NSUInteger, Flags) { FlagA = 1 << 0 };
static NSString *const Name = @"- (void)inString;";

/* - (void)inComment; */
@protocol Drawing <NSObject>
@required
- (void)draw;
@optional
@property (nonatomic, readonly) BOOL visible;
- (void)drawIn:(CGRect)rect
      withColor:(UIColor *)color NS_AVAILABLE_IOS(8_0);
@end

@interface Shape<ObjectType> : NSObject <Drawing, NSCopying> {
    @private
    int _count, _size[4];
    NSDictionary<NSString *, NSNumber *> *_map;
    unsigned flags : 1;
    void (^_block)(int a);
}
@property (nonatomic, copy, getter=isOn) NSString *title;
@property (class, readonly) Shape *shared NS_SWIFT_NAME(shared);
@property (nonatomic) void (^handler)(NSString *);
@property NSDictionary<NSString *, Shape *> *children UI_APPEARANCE_SELECTOR;
@property (nonatomic, strong) id<Drawing> delegate;
+ (instancetype)shapeWithName:(NSString *)name;
- (instancetype)init NS_UNAVAILABLE;
-(int)area;
@end

@interface Shape ()
- (void)hidden;
@end

@interface NSString (Trimming)
- (NSString *)trimmed;
@end

NS_ASSUME_NONNULL_END

static int helper(int a) {
    NSArray *list = @[@1, @2];
    return [list count] + a;
}

@implementation Shape
@synthesize title = _title;
@dynamic children;

static NSInteger shared_count = 0;

+ (instancetype)shapeWithName:(NSString *)name {
    Handler block = ^(NSString *text, int count) {
        NSLog(@"}");
    };
    if (name) {
        return nil;
    }
    @try { block(@"{", 1); } @catch (NSException *e) {}
    return [self new];
}

- (int)area
{
    return '{' + helper(2);
}

int between(void) { return 1; }

#pragma mark - Drawing

- (void)drawIn:(CGRect)rect withColor:(UIColor *)color
{
}
- draw { return nil; }
@end

@implementation NSString (Trimming)
- (NSString *)trimmed { return self; }
@end

enum color { Red, Green };
int main(int argc, char **argv) {
    @autoreleasepool { }
    return 0;
}
